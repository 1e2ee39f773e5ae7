// operator_space: the sketches that a search of an operator fills. Nothing is compiled.
#pragma once

#include <string>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "schedule/fields.h"  // IWYU pragma: export
#include "schedule/sketch.h"  // IWYU pragma: export
#include "space/space.h"      // IWYU pragma: export
#include "task/workload.h"

namespace tilewright::app {

struct OperatorSpace {
  Task task;
  space::Space space;
};

// `off`: rules and extensions to leave out. Threads: one per CPU by default.
Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const std::vector<std::string>& off);

// With one thread per CPU of this machine by default, whether code can be made for it or not.
Result<Target> space_target_of(const TargetChoice& choice);

}  // namespace tilewright::app
