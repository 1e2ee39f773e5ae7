// RoundingBound: bounds the distance of an element computed in machine arithmetic from the
// reference of te/eval, by running error analysis (Higham, Accuracy and Stability of Numerical
// Algorithms, 3.3): each value carries an error bound, and each operation adds its rounding error.
// Sums may be reassociated; the bound of a long sum is six standard deviations, not the worst case.
// The bound is 0 if nothing is rounded: results must then be equal. If a condition depends on a
// rounded value, the bound covers both outcomes; if that is not possible, it is infinity.
//
// Denormals count as zero unless they are kept: a denormal input is 0, and any result may lose as
// much as the least normal number. Infinity and NaN are exact results where every order of the
// operations gives them.
//
//   0.1 + 0.2 in f32:  value 0.3, error 2^-23 (0.1 + 0.2 + 0.3)      1 + 2:  value 3, error 0
//
// Not thread-safe; the Dag must outlive it; extents are constants.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "te/eval.h"

namespace tilewright::te {

// Twice the unit roundoff of a float type, which also covers the rounding of the reference.
double unit_of(ir::Scalar type);

struct Bounded {
  double value = 0;
  double error = 0;
};

class RoundingBound {
 public:
  RoundingBound(const Dag& dag, InputReader inputs, bool denormals = false);
  Bounded element(TensorId tensor, std::span<const int64_t> indices);  // memoized

 private:
  class Frame;
  std::vector<Bounded> reduce(const Op& op, Frame& frame);

  const Dag& dag_;
  InputReader inputs_;
  bool denormals_;
  std::vector<std::unordered_map<int64_t, Bounded>> memo_;  // per tensor, by row-major offset
};

}  // namespace tilewright::te
