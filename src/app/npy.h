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
// bf16, which NumPy does not have, is read and written as u16.
Status write_npy(const std::filesystem::path& path, const graph::TensorType& type,
                 std::string_view bytes);

}  // namespace tilewright::app
