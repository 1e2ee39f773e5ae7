// Attributes: the parameters of a node other than its operands. Each has a name and an integer, a
// number, a text or a list of integers. Ordered by name, so equal attributes have equal texts and
// hashes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::graph {

class Attributes {
 public:
  using Value = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Value>> values);
  bool has(std::string_view name) const;
  // An attribute of another kind, or a missing one without a fallback, is a CHECK, since importers
  // and passes write them. An integer is also a number.
  int64_t integer(std::string_view name, int64_t fallback) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name, double fallback) const;
  const std::string& text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  const std::vector<int64_t>& list(std::string_view name) const;
  std::vector<int64_t> list(std::string_view name, std::vector<int64_t> fallback) const;
  void set(std::string name, Value value);
  void erase(std::string_view name);  // no effect if there is none

  const auto& all() const { return values_; }
  std::string to_string() const;  // `axis=1, perm=[0,2,1]`
  bool operator==(const Attributes&) const = default;

 private:
  const Value* find(std::string_view name) const;  // null: none
  const Value& get(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tilewright::graph
