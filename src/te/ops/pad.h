// Padding.
//
//   pad:shape=4x5,before=1x0,after=2,mode=edge    X[4, 5] -> Y[7, 7]
//
// Along each dimension q = (index of Y) - before is read from X as
//
//   constant   q if it is an index of X, else `value`
//   edge       q clamped:                               a a|a b c|c c
//   reflect    mirrored at the first and last element:  c b|a b c|b a
//   wrap       modulo the extent:                       b c|a b c|a b
//
// for any amount of padding. One stage `Y`, axes i, j, k, ... by dimension. Any dtype.
#pragma once

#include <memory>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

enum class PadMode : uint8_t { Constant, Edge, Reflect, Wrap };

struct PadShape {
  std::vector<int64_t> shape;
  std::vector<int64_t> before, after;  // one per dimension
  PadMode mode = PadMode::Constant;
  double value = 0;  // of a Constant border
  ir::Scalar element = ir::Scalar::F32;
};

// Fails on too many dimensions, or if `value` is not representable in the type.
Result<std::shared_ptr<const Dag>> pad(const PadShape& shape);

Operator pad_operator();

}  // namespace tilewright::te
