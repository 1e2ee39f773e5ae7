// operator_space: the search space of an operator, as texts and numbers for display: its sketches
// with their holes. Nothing is compiled.
#pragma once

#include <string>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "schedule/sketch.h"
#include "space/space.h"
#include "task/workload.h"

namespace tilewright::app {

// A hole of a sketch.
struct SpaceHole {
  struct Choice {
    size_t number = 0;
    std::string text;  // see choice_text
  };
  std::string kind;             // `tile`, `register_read`
  std::string stage;            // that it decides on
  std::vector<int16_t> steps;   // that it decides, as indices in SpaceSketch::steps
  size_t size = 1;              // number of choices
  std::vector<Choice> choices;  // all, or the first, the last and some between them
};

struct SpaceSketch {
  std::string name;
  std::vector<std::string> steps;  // steps with holes contain an arbitrary choice
  std::vector<SpaceHole> holes;
  double size = 0;  // number of programs, legal or not
};

struct OperatorSpace {
  std::string what;    // text of the workload
  std::string target;  // its text
  std::vector<SpaceSketch> sketches;
  double size = 0;  // number of programs of all sketches
};

// Threads: one per CPU by default. `all_choices`: of each hole, not only some.
Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options, bool all_choices = false);

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
