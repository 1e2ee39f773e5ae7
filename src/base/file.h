// Whole files. Paths are arguments; nothing here reads the environment. Errors name the path and
// what the operating system said. Safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright {

// All bytes of a file (a pipe or /proc entry works too). A directory is an error, and so is more
// than `max_bytes`, which also ends the reading of what has no end, such as /dev/zero.
Result<std::string> read_file(const std::filesystem::path& path,
                              int64_t max_bytes = int64_t{1} << 40);

// Replaces the file as a whole: readers see the old bytes or the new ones, also after a crash.
// Writes a temporary beside it, flushes that to the disk, then renames it. The folder must exist.
// A replaced file keeps its permissions; a new one gets those of the umask.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewright
