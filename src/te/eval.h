// A pull evaluator: the value of single elements of a Dag, computed in f64 from the definition,
// slowly and obviously. The ground truth that sampled elements of kernels are held against.
// Integer and Bool tensors are exact (values up to 2^53); values of narrower float types are
// rounded where the Dag casts them or stores them to a tensor, so F16 storage is honoured; F32
// tensors are kept in f64 (the reference is more exact than what it judges).
// Not shared between threads; the Dag outlives it; extents are constants.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "te/dag.h"

namespace tilewright::te {

// Gives the element of an input tensor at a flat row-major offset.
using InputReader = std::function<double(TensorId tensor, int64_t offset)>;

// A function of floats in f64: floor to pow. A CHECK for those that mean something else on
// integers.
double float_function(ir::Intrinsic function, double x, double y);

// `a op b` of integers of `type`, which wrap. A division by zero is a CHECK; a shift by more bits
// than 64 shifts by the rest of that.
int64_t apply_integers(ir::BinaryOp op, ir::Scalar type, int64_t a, int64_t b);

// `a op b` of floats in f64; 0 or 1 for a comparison.
double apply_floats(ir::BinaryOp op, double a, double b);

class Evaluator {
 public:
  Evaluator(const Dag& dag, InputReader inputs);
  double element(TensorId tensor, std::span<const int64_t> indices);  // memoized

 private:
  class Frame;
  std::vector<double> compute(const Op& op, std::span<const int64_t> indices);
  std::vector<double> reduce(const Op& op, std::span<const int64_t> indices);

  const Dag& dag_;
  InputReader inputs_;
  std::vector<std::unordered_map<int64_t, double>> memo_;  // per tensor, by row-major offset
};

}  // namespace tilewright::te
