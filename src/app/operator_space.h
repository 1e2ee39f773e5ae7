// operator_space: the search space of an operator: its sketches. Nothing is compiled.
#pragma once

#include <string>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "schedule/fields.h"     // IWYU pragma: export
#include "schedule/sketch.h"     // IWYU pragma: export
#include "space/sketch_rules.h"  // IWYU pragma: export
#include "space/space.h"         // IWYU pragma: export
#include "task/workload.h"

namespace tilewright::app {

struct OperatorSpace {
  Task task;
  space::Space space;
};

// Threads: one per CPU by default.
Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options);

// The default is one thread per CPU of this machine, whether or not code can be generated for it.
Result<Target> space_target_of(const TargetChoice& choice);

}  // namespace tilewright::app
