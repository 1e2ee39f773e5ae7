// Models that learn nothing, to compare with: one that gives each program a number drawn from its
// rows and the seed, and one that says the same of all.
#pragma once

#include <memory>

#include "cost/model.h"

namespace tilewright::cost {

// Uniform in [0, 1); the same rows and seed give the same score.
std::unique_ptr<CostModel> make_random_model(uint64_t seed);
// Score 0.
std::unique_ptr<CostModel> make_no_model();

}  // namespace tilewright::cost
