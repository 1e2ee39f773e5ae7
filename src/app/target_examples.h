// Texts of targets as examples for help texts: `x86-64-v3, x86-64-v4:avx512vnni;threads=8`.
#pragma once

#include <string>

namespace tilewright::app {

std::string target_examples();

}  // namespace tilewright::app
