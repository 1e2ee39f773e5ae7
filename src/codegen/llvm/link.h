// Links relocatable objects into a shared library or one object, with LLVM's linker in this
// process. It starts no program and needs only the objects. The names of the permitted functions of
// the C library are built in. The same inputs give the same bytes, in any folder.
//
// The linker has global state, so calls are serialized. If the linker reports that it cannot run
// again, it is not called again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/elf_object.h"

namespace tilewright::codegen {

// The machine whose objects can be linked: that of the LLVM back end and of the runtime.
const ElfMachine& linked_machine();

// One object: bytes in memory, or data that is written to the file that the linker reads.
struct LinkInput {
  std::span<const uint8_t> bytes;   // an ELF object, or
  const ElfObject* data = nullptr;  // used if `bytes` is empty
};

struct SharedLibraryOptions {
  std::string soname;                  // default: the name of the file
  std::vector<std::string> exported;   // the only symbols visible outside
  std::vector<std::string> wrapped{};  // as for link_relocatable
};

// A temporary folder next to `library` holds the inputs during the link; an existing file is
// replaced at the end.
Status link_shared(std::span<const LinkInput> inputs, const SharedLibraryOptions& options,
                   const std::filesystem::path& library);

// Links all inputs into one object. Of each symbol f of `wrapped`, references to f become
// references to __wrap_f, and references to __real_f become references to f (ld --wrap).
Status link_relocatable(std::span<const LinkInput> inputs, const std::filesystem::path& object,
                        std::span<const std::string> wrapped = {});

}  // namespace tilewright::codegen
