// Models that learn nothing, to compare with: one that gives each program a number drawn from its
// features and the seed, and none at all.
#pragma once

#include <memory>

#include "cost/models.h"

namespace tilewright::cost {

// Uniform in [0, 1); the same features and seed give the same score.
std::unique_ptr<CostModel> make_random_model(uint64_t seed);

ModelRow random_model();
ModelRow no_model();

}  // namespace tilewright::cost
