// A tensor sampled at other places: dimensions whose extent differs are resized.
//
//   resize:shape=1x4x4x3,to=1x8x8x3,mode=linear    X[1, 4, 4, 3] -> Y[1, 8, 8, 3]
//
// Along a dimension, element o of `out` stands for the place x of `in`, a fraction whose numerator
// is affine in o (the names are ONNX's):
//
//   half_pixel      x = (o + 1/2) in / out - 1/2 = ((2 o + 1) in - out) / (2 out)
//   asymmetric      x = o in / out
//   align_corners   x = o (in - 1) / (out - 1), 0 when out is 1
//
// nearest takes the element at x rounded by `rounding`: floor, ceil, round_prefer_floor or
// round_prefer_ceil (which differ in halves). linear takes w = x - floor(x) of element floor(x) + 1
// and 1 - w of element floor(x). Places outside are moved to the nearest element. All of it is
// exact integer arithmetic but the division that gives w.
//
// nearest: one stage `Y`, any dtype. linear, for floats: a stage a resized dimension, `T1`, `T2`,
// ..., the last one `Y`, outermost dimension first, in f32 for f16 and bf16; where nothing differs
// one stage `Y`. Axes i, j, k, ... by dimension.
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

// Fails when the ranks differ, and for Linear unless the type is a float.
Result<std::shared_ptr<const Dag>> resize(const ResizeShape& shape);

Operator resize_operator();

}  // namespace tilewright::te
