// A Program as files. The same Program gives the same bytes, whatever the folder. No compiler and
// no linker of the machine is needed.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct ExportOptions {
  bool weights_beside = false;  // in STEM.weights, memory-mapped, instead of embedded
};

// A library that exports `tilewright_model` and NAME_model (runtime/abi/model_abi.h).
Status export_shared(const Program& program, const std::filesystem::path& so,
                     const ExportOptions& options = {});
// An object that defines NAME_model, and STEM.h beside it. Link with -lpthread -ldl where the C
// library has those apart.
Status export_object(const Program& program, const std::filesystem::path& o,
                     const ExportOptions& options = {});

// Whether a file can be written there, without doing it: for who has long to work before it is.
Status check_writable(const std::filesystem::path& file);

}  // namespace tilewright::deploy
