// The text of bench/suite.json. CMake generates its definition from suite_data.cc.in.
#pragma once

#include <string_view>

namespace tilewright {

extern const std::string_view kSuiteJson;

}  // namespace tilewright
