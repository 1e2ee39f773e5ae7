// Errors of system calls, with the system's reason. `code` is the value of errno: read it before
// anything else is called, such as the formatting of `what`.
//
//   if (::fstat(file, &info) != 0) return system_error("fstat", errno);  // `fstat: Bad file ...`
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright {

std::string system_reason(int code);  // `No such file or directory`
// An error of kind Io: `what: reason`.
std::unexpected<Error> system_error(std::string_view what, int code);

}  // namespace tilewright
