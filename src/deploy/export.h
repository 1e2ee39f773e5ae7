// A Program as files. The same Program gives the same bytes.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct ExportOptions {
  bool weights_beside = false;  // in NAME.weights, memory-mapped, instead of embedded
};

Status export_shared(const Program& program, const std::filesystem::path& so,
                     const ExportOptions& options = {});
Status export_object(const Program& program, const std::filesystem::path& o,
                     const ExportOptions& options = {});  // and a header beside it
Status export_c(const Program& program, const std::filesystem::path& c,
                const ExportOptions& options = {});  // and a header beside it

}  // namespace tilewright::deploy
