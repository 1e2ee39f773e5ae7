// The text of bench/suite.json; its definition is generated from suite_data.cc.in by CMake.
#pragma once

#include <string_view>

namespace tilewright {

extern const std::string_view kSuiteJson;

}  // namespace tilewright
