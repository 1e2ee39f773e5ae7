// What the forms of a compiled model share. Internal to this folder.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "deploy/program.h"

namespace tilewright::deploy {

std::filesystem::path weights_path(const std::filesystem::path& file);  // STEM.weights beside it
Status write_weights(const Program& program, const std::filesystem::path& path);

}  // namespace tilewright::deploy
