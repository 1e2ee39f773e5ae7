// Relocatable objects -> a shared library or one object, by LLVM's linker in this process; no other
// program is started and nothing but the objects is needed: of the C library only the names of the
// functions that may be used are known. The same inputs give the same bytes, wherever they lie.
//
// The linker has state of its own, so calls take turns. A linker that says it cannot run again is
// not called again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/elf_object.h"

namespace tilewright::codegen {

// One object: bytes in memory, or data that is written where the linker reads it.
struct LinkInput {
  std::span<const uint8_t> bytes;   // an ELF object, or
  const ElfObject* data = nullptr;  // where there are no bytes
};

struct SharedLibraryOptions {
  std::string soname;                 // by default the name of the file
  std::vector<std::string> exported;  // symbols that are seen outside; no others are
};

// A temporary folder beside `library` holds the inputs meanwhile; an old file is replaced at the
// end.
Status link_shared(std::span<const LinkInput> inputs, const SharedLibraryOptions& options,
                   const std::filesystem::path& library);

// One object of all of them.
Status link_relocatable(std::span<const LinkInput> inputs, const std::filesystem::path& object);

}  // namespace tilewright::codegen
