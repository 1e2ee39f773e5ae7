// The folder of the running executable. An installed Tilewright has its worker programs there.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace tilewright {

Result<std::filesystem::path> program_folder();

}  // namespace tilewright
