// Exports a Program as files. The same Program gives the same bytes, whatever the folder. Needs
// neither a compiler nor a linker on the machine.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "codegen/back_end.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct ExportOptions {
  bool external_weights = false;  // in STEM.weights, memory-mapped, not embedded
};

// A shared library that exports `tilewright_model` and NAME_model (runtime/abi/model_abi.h).
Status export_shared(const Program& program, const std::filesystem::path& so,
                     const ExportOptions& options = {});
// An object that defines NAME_model, and STEM.h next to it. Link with -lpthread -ldl if the C
// library has these as separate libraries.
Status export_object(const Program& program, const std::filesystem::path& o,
                     const ExportOptions& options = {});

// Checks that compiled kernels of a back end can be linked into these files: that they are objects
// of the host, whose entry points the runtime calls. Call it before the kernels are compiled.
Status check_linkable(const codegen::BackEnd& back_end);

}  // namespace tilewright::deploy
