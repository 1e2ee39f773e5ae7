// What a failing test prints: the operator, the least trace that fails in the same way, and what
// differs first.
#pragma once

#include <string>

#include "program_check.h"

namespace tilewright::testing {

std::string failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                           const schedule::Trace& trace, const CheckOptions& options,
                           const Failure& failure);

}  // namespace tilewright::testing
