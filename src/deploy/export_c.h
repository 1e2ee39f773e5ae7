// A Program as one C source with kernels, runtime, table and constants, and STEM.h next to it. The
// source defines NAME_model (runtime/abi/model_abi.h). The same Program gives the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "deploy/export.h"
#include "deploy/program.h"

namespace tilewright::deploy {

// The limit of embedded constants. A C compiler needs about 40 bytes of memory for each byte of
// them.
inline constexpr int64_t kMaxEmbeddedInC = int64_t{64} << 20;  // bytes

// The Program was compiled with c_source. Embedded constants beyond kMaxEmbeddedInC are an error.
Status export_c(const Program& program, const std::filesystem::path& c,
                const ExportOptions& options = {});

}  // namespace tilewright::deploy
