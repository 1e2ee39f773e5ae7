// Texts of targets as examples for help texts and pages.
#pragma once

#include <string_view>

namespace tilewright {

inline constexpr std::string_view kTargetExamples[] = {"x86-64-v3",
                                                       "x86-64-v4:avx512vnni;threads=8"};

}  // namespace tilewright
