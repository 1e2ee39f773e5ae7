// Resampling of a tensor: dimensions whose extent differs are resized.
//
//   resize:shape=1x4x4x3,to=1x8x8x3,mode=linear    X[1, 4, 4, 3] -> Y[1, 8, 8, 3]
//
// Along a dimension, element o of `out` samples position x of `in`, a fraction whose numerator is
// affine in o (names as in ONNX):
//
//   half_pixel      x = (o + 1/2) in / out - 1/2 = ((2 o + 1) in - out) / (2 out)
//   asymmetric      x = o in / out
//   align_corners   x = o (in - 1) / (out - 1), 0 when out is 1
//
// nearest takes the element at x rounded by `rounding`: floor, ceil, round_prefer_floor or
// round_prefer_ceil (which differ at halves). linear weights element floor(x) + 1 by w = x -
// floor(x) and element floor(x) by 1 - w. Positions outside are clamped to the nearest element.
// Everything but the division for w is exact integer arithmetic.
//
// nearest: one stage `Y`, any dtype. linear, for floats: one stage per resized dimension, outermost
// first: `T1`, `T2`, ..., the last `Y`, in f32 for f16 and bf16; one stage `Y` if no extent
// differs. Axes i, j, k, ... by dimension.
#pragma once

#include <memory>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

enum class ResizeMode : uint8_t { Nearest, Linear };
enum class Coordinates : uint8_t { HalfPixel, Asymmetric, AlignCorners };
enum class Rounding : uint8_t { Floor, Ceil, PreferFloor, PreferCeil };

struct ResizeShape {
  std::vector<int64_t> shape, to;  // of one rank
  ResizeMode mode = ResizeMode::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  Rounding rounding = Rounding::PreferFloor;  // of Nearest
  ir::Scalar element = ir::Scalar::F32;
};

// Fails if the ranks differ, and for Linear unless the type is a float.
Result<std::shared_ptr<const Dag>> resize(const ResizeShape& shape);

Operator resize_operator();

}  // namespace tilewright::te
