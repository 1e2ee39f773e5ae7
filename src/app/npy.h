// Reads and writes NumPy's .npy files: one array per file, row-major or column-major in the file,
// row-major in memory. Files are untrusted input.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/constant.h"

namespace tilewright::app {

Result<graph::Constant> parse_npy(std::string bytes, std::string_view name);
Result<graph::Constant> read_npy(const std::filesystem::path& path);
// The array, or its bits as `wanted` if that is u16: an array of u16 is read as bf16, which NumPy
// does not have and which is stored as u16.
graph::Constant read_as(const graph::Constant& array, ir::Scalar wanted);
// bf16 is written as u16.
Status write_npy(const std::filesystem::path& path, const graph::TensorType& type,
                 std::string_view bytes);

}  // namespace tilewright::app
