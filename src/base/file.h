// Reads and writes whole files. Errors name the path and the operating system's reason. Nothing
// here reads the environment. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright {

// All bytes of a file, a pipe or a /proc entry. Fails on a directory, and on more than `max_bytes`
// bytes, so reading /dev/zero ends.
Result<std::string> read_file(const std::filesystem::path& path,
                              int64_t max_bytes = int64_t{1} << 40);

// In bytes, of a regular file.
Result<uint64_t> size_of_file(const std::filesystem::path& path);

// Replaces the file atomically: readers see the old bytes or the new ones, also after a crash.
// Links, devices and permissions: base/atomic_file.h, which also writes a file in parts.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewright
