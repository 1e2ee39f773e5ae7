// The output of `tilewright space`: rules and extensions, sketches with their steps and holes,
// sizes.
#pragma once

#include <string>

#include "app/operator_space.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string count_text(double count);  // `12`, `4,096`, `3.1e+12`

std::string rules_text(const app::SpaceParts& parts);
Json rules_json(const app::SpaceParts& parts);

// `whole`: long choices are not shortened.
std::string sketch_text(const app::SpaceSketch& sketch, size_t number, bool whole = false);
Json sketch_json(const app::SpaceSketch& sketch, size_t number);

}  // namespace tilewright::cli
