// Selects the elements of a tensor that are compared with its definition: corners, elements near
// the ends of dimensions (where tails go wrong) and random ones, as many as a budget of work
// allows. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "te/dag.h"

namespace tilewright::oracle {

// The number of expressions evaluated to compute one element of `tensor` from the inputs, with each
// intermediate element computed once.
double work_of_element(const te::Dag& dag, te::TensorId tensor);

// Distinct flat offsets. At least 2 (if there are as many), at most 256.
std::vector<int64_t> sample_elements(const te::Dag& dag, te::TensorId tensor, double work_budget,
                                     Rng& rng);

}  // namespace tilewright::oracle
