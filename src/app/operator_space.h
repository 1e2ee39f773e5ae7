// operator_space: the search space of an operator: its sketches. Nothing is compiled.
#pragma once

#include <string>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "schedule/sketch.h"  // IWYU pragma: export
#include "space/space.h"      // IWYU pragma: export
#include "task/workload.h"

namespace tilewright::app {

struct OperatorSpace {
  Task task;
  space::Space space;
};

// Threads: one per CPU by default.
Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options);

// One choice of a hole on one line: `[4, 8]`, `off`, `compute_at P Y y`, `mask`.
std::string choice_text(const schedule::Hole& hole, size_t choice);

// A part of the search space that SpaceOptions can turn off.
struct SpacePart {
  std::string name, what;
};
struct SpaceParts {
  std::vector<SpacePart> rules;  // in the order in which they are applied
  std::vector<SpacePart> extensions;
};
SpaceParts space_parts(const Target& target);

// The default is one thread per CPU of this machine, whether or not code can be generated for it.
Result<Target> space_target_of(const TargetChoice& choice);

}  // namespace tilewright::app
