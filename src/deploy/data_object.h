// The data of a compiled model as an ELF object: the table that the run time walks, with pointers
// to kernels and run time by their symbols, and the constants. Internal to this folder.
#pragma once

#include <string>

#include "codegen/elf_object.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct DataObjectOptions {
  std::vector<std::string> symbols;  // under which the TilewrightModelApi is known
  std::string weights_file;          // empty: constants are embedded
  bool huge_pages = false;           // embedded constants of one or more begin at one
};

// Refers to the bytes of the Program's constants.
codegen::ElfObject data_object(const Program& program, const DataObjectOptions& options);

}  // namespace tilewright::deploy
