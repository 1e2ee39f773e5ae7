// LoadedObject: an x86-64 ELF relocatable object, mapped into memory and ready to run, without a
// linker or dlopen.
//
// One mapping holds text and stubs (read, execute), then constants and the table of external
// addresses (read only), then data (read, write). Each part has separate pages, which are never
// writable and executable at once. External functions are called through a stub, because they may
// be out of reach of a 32-bit displacement.
//
// The object is untrusted input: loading returns an error or a mapping, and never faults. Running
// the code is not protected.
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
  // `externals`: all symbols that the object may use without defining them.
  static Result<LoadedObject> load(std::span<const uint8_t> elf,
                                   std::span<const ExternalSymbol> externals);

  LoadedObject(LoadedObject&& other) noexcept;
  LoadedObject& operator=(LoadedObject&& other) noexcept;
  ~LoadedObject();

  void* function(std::string_view name) const;  // a global function; null if there is none

 private:
  friend class ElfLoader;
  LoadedObject() = default;
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  std::vector<std::pair<std::string, void*>> functions_;
};

}  // namespace tilewright::runtime
