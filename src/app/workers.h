// Where the worker programs of src/measure are: tilewright-build-worker and tilewright-run-worker,
// in one folder.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace tilewright::app {

// The folder of the running program, which has them in an installed Tilewright.
Result<std::filesystem::path> program_folder();

// An error that names the program that is missing in the folder or cannot be executed.
Status check_workers(const std::filesystem::path& folder);

}  // namespace tilewright::app
