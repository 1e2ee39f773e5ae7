// A pull evaluator: computes single elements of a Dag in f64, directly from the definition. It is
// the reference for sampled elements of kernels. Integer and Bool tensors are exact (values up to
// 2^53). F16 and BF16 values are rounded where the Dag casts or stores them; F32 tensors stay in
// f64, so the reference is more accurate than the kernel. Denormal inputs and elements are zeros,
// unless they are kept (ir/type.h); intermediate results are not rounded, and so are not flushed.
// Not thread-safe; the Dag must outlive it; extents are constants.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "te/dag.h"

namespace tilewright::te {

// Returns the element of an input tensor at a flat row-major offset.
using InputReader = std::function<double(TensorId tensor, int64_t offset)>;

// A function of floats in f64, Floor to Pow. Functions that differ on integers are a CHECK.
double float_function(ir::Intrinsic function, double x, double y);

// An integer as a double holds it, exact below 2^53. Beyond the range of I64 it is the nearest end,
// so the largest I64, the identity of a minimum, is itself again.
int64_t integer_of(double value);

// `a op b` of integers of `type`, which wrap. Division by zero is a CHECK. Shift counts are
// modulo 64.
int64_t apply_integers(ir::BinaryOp op, ir::Scalar type, int64_t a, int64_t b);

// `a op b` of floats in f64; 0 or 1 for a comparison.
double apply_floats(ir::BinaryOp op, double a, double b);

class Evaluator {
 public:
  Evaluator(const Dag& dag, InputReader inputs, bool denormals = false);
  double element(TensorId tensor, std::span<const int64_t> indices);  // memoized

 private:
  class Frame;
  std::vector<double> compute(const Op& op, std::span<const int64_t> indices);
  std::vector<double> reduce(const Op& op, std::span<const int64_t> indices);

  const Dag& dag_;
  double flushed(double value, ir::Scalar type) const {
    return denormals_ ? value : ir::flush_denormal(value, type);
  }

  InputReader inputs_;
  bool denormals_;
  std::vector<std::unordered_map<int64_t, double>> memo_;  // per tensor, by row-major offset
};

}  // namespace tilewright::te
