// Chooses the range from which each input is drawn: integers as large as exactness allows, if they
// make results exact; small integers, if they make at least the intermediate sums exact; otherwise
// ordinary fractions, positive where a function requires it. Elements that are indices into another
// tensor stay within it, and integer divisors are not 0.
//
// Half of the elements at the end of a dimension are extreme, so that a tail missing from a sum or
// a maximum is detected.
//
//   matmul of f32, k = 512     integers in [-127, 127]: 512 * 127 * 127 < 2^24
//   maximum over 1000          integers in [-2^23, 2^23]: few are equal
//   sqrt(sum of squares)       integers in [-4, 4]: the sum is exact, its root is not
//   softmax                    fractions in [-1, 1], up to 3 at the ends
//   gather from 100 rows       indices in [0, 99]
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "oracle/value_set.h"
#include "task/workload.h"

namespace tilewright::oracle {

struct InputRange {
  double low = -1, high = 1;
  bool whole = false;  // integers, both ends included; false: uniform
  bool zero = true;    // 0 may be drawn
  double extreme = 1;  // at the end of a dimension: low or high times this factor

  bool operator==(const InputRange&) const = default;
};

struct InputPlan {
  std::vector<InputRange> operands;  // indexed as Workload::operands; unused for outputs
  bool exact = false;                // every schedule gives the same bits
};

// Depends only on the content of the workload. An error if no inputs keep indices in bounds.
Result<InputPlan> plan_inputs(const Workload& workload);

// `at_end`: at the end of a dimension.
double draw_value(Rng& rng, const InputRange& range, bool at_end);

}  // namespace tilewright::oracle
