// Which elements of a tensor are held against its definition: corners, elements near the ends of
// dimensions (where tails of loops go wrong) and random ones, as many as a budget of work allows.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "te/dag.h"

namespace tilewright::oracle {

// Expressions evaluated to compute one element of `tensor` from the inputs, each intermediate
// element once.
double work_of_element(const te::Dag& dag, te::TensorId tensor);

// Flat offsets, distinct. At least 2 (where there are as many), at most 256.
std::vector<int64_t> sample_elements(const te::Dag& dag, te::TensorId tensor, double work_budget,
                                     Rng& rng);

}  // namespace tilewright::oracle
