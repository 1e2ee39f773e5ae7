// Name: an interned string of four bytes, compared by handle. Loop names derive from each other
// without building text: splitting `i` gives i.child(0) = `i.0`, fusing gives Name::fuse({a, b}) =
// `(a,b)`. The table is global, append-only and thread-safe. Handles differ between runs: store and
// hash text(), never the handle.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

class Name {
 public:
  constexpr Name() = default;            // the empty name
  explicit Name(std::string_view text);  // interns the text

  const std::string& text() const;  // valid until the process ends
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }

  Name child(unsigned part) const;                // `i` -> `i.2`
  static Name fuse(std::span<const Name> names);  // {`i`, `j.0`} -> `(i,j.0)`

  bool operator==(const Name&) const = default;

 private:
  uint32_t id_ = 0;
};

}  // namespace tilewright

template <>
struct std::hash<tilewright::Name> {
  size_t operator()(tilewright::Name name) const { return name.id(); }
};
