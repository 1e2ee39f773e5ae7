// The output of `tilewright space`: rules and extensions, sketches with their steps and holes,
// sizes.
#pragma once

#include <string>

#include "app/operator_space.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// One choice of a hole on one line: `[4, 8]`, `off`, `compute_at P Y y`, `mask`.
std::string choice_text(const schedule::Hole& hole, size_t choice);
std::string count_text(double count);  // `12`, `4,096`, `3.1e+12`

std::string rules_text(const Target& target);
Json rules_json(const Target& target);

// `all`: every choice of each hole; otherwise some.
std::string sketch_text(const schedule::Sketch& sketch, size_t number, bool all = false);
Json sketch_json(const schedule::Sketch& sketch, size_t number, bool all = false);

}  // namespace tilewright::cli
