// Finds the worker programs of src/measure, tilewright-build-worker and tilewright-run-worker,
// which are in one folder: an installed Tilewright has them in program_folder().
#pragma once

#include <filesystem>

#include "base/result.h"

namespace tilewright::app {

// An error that names the worker program that is missing or not executable.
Status check_workers(const std::filesystem::path& folder);

}  // namespace tilewright::app
