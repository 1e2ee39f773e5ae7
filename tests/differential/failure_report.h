// What a failing test prints: the operator, the least trace that fails in the same way, and what
// differs first.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "back_end_check.h"
#include "program_check.h"

namespace tilewright::testing {

// Of a program that `checker` has found to fail.
std::string failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                           const schedule::Trace& trace, const CheckOptions& options,
                           const Failure& failure);

// Of one whose C source gives other results than the interpreter, or does not compile.
std::string c_failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                             const schedule::Trace& trace);

}  // namespace tilewright::testing
