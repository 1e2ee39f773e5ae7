// Where the worker programs of src/measure lie: beside the running program.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace tilewright::cli {

// An error that names what is missing when they are not there.
Result<std::filesystem::path> workers_folder();

}  // namespace tilewright::cli
