// The report of a failing test: the operator, a minimized trace that fails in the same way, and the
// first difference.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "back_end_check.h"
#include "program_check.h"

namespace tilewright::testing {

// For a program that fails the checks of `checker`.
std::string failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                           const schedule::Trace& trace, const CheckOptions& options,
                           const Failure& failure);

// For a program whose C source does not compile, or whose results differ from the interpreter's.
std::string c_failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                             const schedule::Trace& trace);

}  // namespace tilewright::testing
