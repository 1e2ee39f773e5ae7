// Maps an x86-64 ELF relocatable object into memory, ready to run, without a linker or dlopen.
//
// One mapping holds text and stubs (read, execute), then constants and the table of outside
// addresses (read only), then data (read, write); each part on pages of its own, never writable
// and executable at once. Outside functions are reached through a stub, as they may be further
// away than a 32-bit displacement reaches.
//
// The object is untrusted bytes: whatever it holds, loading gives an error or a mapping, never a
// fault. (Running it is another matter.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tilewright::runtime {

struct ExternalSymbol {
  std::string_view name;
  uint64_t address = 0;
};

class LoadedObject {
 public:
  // `externals` are all that the object may refer to and does not define.
  static Result<LoadedObject> load(std::span<const uint8_t> elf,
                                   std::span<const ExternalSymbol> externals);

  LoadedObject(LoadedObject&& other) noexcept;
  LoadedObject& operator=(LoadedObject&& other) noexcept;
  ~LoadedObject();

  void* function(std::string_view name) const;  // a global function, or null

 private:
  friend class ElfLoader;
  LoadedObject() = default;
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  std::vector<std::pair<std::string, void*>> functions_;
};

}  // namespace tilewright::runtime
