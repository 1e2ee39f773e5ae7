// The data of a compiled model as an ELF object: the table that the runtime executes, with pointers
// to kernels and runtime by symbol, and the constants. Internal to this folder.
#pragma once

#include <string>

#include "codegen/elf_object.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct DataObjectOptions {
  std::vector<std::string> symbols;  // names of the TilewrightModelApi
  std::string weights_file;          // empty: constants are embedded
  // If there is at least one huge page of embedded constants, they start at one.
  bool huge_pages = false;
};

// Refers to the bytes of the Program's constants, which outlive the result.
codegen::ElfObject data_object(const Program& program, const DataObjectOptions& options);

}  // namespace tilewright::deploy
