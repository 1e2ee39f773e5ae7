// Reads and writes NumPy's .npy files: one array per file, row-major or column-major in the file,
// row-major in memory. Files are untrusted input.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/constant.h"

namespace tilewright::app {

// NumPy has no bf16: it is written as u16, and an array of u16 is read as bf16 if that is `wanted`.
// Other arrays have the type that the file says.
Result<graph::Constant> parse_npy(std::string bytes, std::string_view name, ir::Scalar wanted);
Result<graph::Constant> read_npy(const std::filesystem::path& path, ir::Scalar wanted);
Status write_npy(const std::filesystem::path& path, const graph::TensorType& type,
                 std::string_view bytes);

}  // namespace tilewright::app
