// Models that do not learn, for comparison: one that scores each program by a random number derived
// from its features and the seed, and no model.
#pragma once

#include <memory>

#include "cost/models.h"

namespace tilewright::cost {

// Uniform in [0, 1); the same features and seed give the same score.
std::unique_ptr<CostModel> make_random_model(uint64_t seed);

ModelRow random_model();
ModelRow no_model();

}  // namespace tilewright::cost
