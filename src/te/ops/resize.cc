#include "te/ops/resize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "ir/fold.h"
#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

constexpr std::string_view kModes[] = {"nearest", "linear"};
constexpr std::string_view kCoordinates[] = {"half_pixel", "asymmetric", "align_corners"};
constexpr std::string_view kRoundings[] = {"floor", "ceil", "round_prefer_floor",
                                           "round_prefer_ceil"};

constexpr int64_t kMaxResized = int64_t{1} << 29;  // keeps every numerator within 64 bits

// (slope * o + offset) / divisor, in lowest terms where that keeps its floor.
struct SourcePosition {
  int64_t slope = 0, offset = 0, divisor = 1;

  int64_t floor_at(int64_t o) const { return ir::floor_div(slope * o + offset, divisor); }

  // slope * o + offset, raised by a multiple of the divisor until it is never negative.
  Expr numerator(const Expr& o, int64_t* raised) const {
    *raised = offset < 0 ? -ir::floor_div(offset, divisor) : 0;
    const int64_t constant = offset + *raised * divisor;
    if (slope == 0) return ir::int_imm(constant);
    const Expr product = slope == 1 ? o : o * slope;
    return constant == 0 ? product : product + constant;
  }

  Expr floor(const Expr& o) const {
    int64_t raised = 0;
    const Expr above = numerator(o, &raised);
    const Expr quotient = divisor == 1 ? above : above / divisor;
    return raised == 0 ? quotient : quotient - raised;
  }
};

SourcePosition position_of(Coordinates coordinates, int64_t in, int64_t out) {
  switch (coordinates) {
    case Coordinates::HalfPixel:
      return {.slope = 2 * in, .offset = in - out, .divisor = 2 * out};
    case Coordinates::Asymmetric:
      return {.slope = in, .offset = 0, .divisor = out};
    case Coordinates::AlignCorners:
      if (out == 1) return {};
      return {.slope = in - 1, .offset = 0, .divisor = out - 1};
  }
  return {};
}

// A position whose floor is this one rounded: ceil(a / d) = floor((a + d - 1) / d) and so on.
SourcePosition rounded(const SourcePosition& position, Rounding rounding) {
  switch (rounding) {
    case Rounding::Floor:
      return position;
    case Rounding::Ceil:
      return {.slope = position.slope,
              .offset = position.offset + position.divisor - 1,
              .divisor = position.divisor};
    case Rounding::PreferFloor:
    case Rounding::PreferCeil: {
      const int64_t half = position.divisor - (rounding == Rounding::PreferFloor ? 1 : 0);
      return {.slope = 2 * position.slope,
              .offset = 2 * position.offset + half,
              .divisor = 2 * position.divisor};
    }
  }
  return position;
}

// A common factor of slope and divisor cancels: floor((4 o + 3) / 8) = floor((o + 0) / 2).
SourcePosition reduced(const SourcePosition& position) {
  const int64_t common = std::gcd(position.slope, position.divisor);
  return {.slope = position.slope / common,
          .offset = ir::floor_div(position.offset, common),
          .divisor = position.divisor / common};
}

// `index`, whose values run from `first` to `last`, kept within an extent.
Expr clamped(Expr index, int64_t first, int64_t last, int64_t extent) {
  if (first < 0) index = ir::max(index, ir::int_imm(0));
  if (last >= extent) index = ir::min(index, ir::int_imm(extent - 1));
  return index;
}

Expr nearest_index(const Expr& o, int64_t in, int64_t out, const ResizeShape& shape) {
  const SourcePosition position =
      reduced(rounded(position_of(shape.coordinates, in, out), shape.rounding));
  return clamped(position.floor(o), position.floor_at(0), position.floor_at(out - 1), in);
}

void add_nearest(DagBuilder& builder, TensorId x, const ResizeShape& shape) {
  const std::vector<Axis> axes = axes_of(builder, shape.to);
  std::vector<Expr> indices = vars_of(axes);
  for (size_t d = 0; d < axes.size(); ++d) {
    if (shape.shape[d] == shape.to[d]) continue;
    indices[d] = nearest_index(indices[d], shape.shape[d], shape.to[d], shape);
  }
  builder.compute("Y", axes, builder.read(x, std::move(indices)), shape.element);
}

// The value between two neighbors of `x` along dimension d, at the element `at` of the result.
Expr between(DagBuilder& builder, TensorId x, std::vector<Expr> at, size_t d,
             const ResizeShape& shape) {
  const int64_t in = shape.shape[d], out = shape.to[d];
  const SourcePosition position = position_of(shape.coordinates, in, out);
  const Expr o = at[d];
  const Expr floor = reduced(position).floor(o);
  const int64_t first = position.floor_at(0), last = position.floor_at(out - 1);
  at[d] = clamped(floor, first, last, in);
  const Expr low = builder.read(x, at);
  at[d] = clamped(floor + 1, first + 1, last + 1, in);
  const Expr high = builder.read(x, at);
  const ir::Type type = low.type();
  int64_t raised = 0;
  const Expr rest = position.numerator(o, &raised) % position.divisor;
  const Expr weight =
      ir::cast(type.scalar, rest) / ir::imm(static_cast<double>(position.divisor), type);
  return low * (ir::imm(1, type) - weight) + high * weight;
}

void add_linear(DagBuilder& builder, TensorId x, const ResizeShape& shape) {
  std::vector<size_t> resized;
  for (size_t d = 0; d < shape.shape.size(); ++d) {
    if (shape.shape[d] != shape.to[d]) resized.push_back(d);
  }
  std::vector<int64_t> extents = shape.shape;
  for (size_t k = 0; k < resized.size(); ++k) {
    const size_t d = resized[k];
    extents[d] = shape.to[d];
    const std::vector<Axis> axes = axes_of(builder, extents);
    const Expr value = between(builder, x, vars_of(axes), d, shape);
    const bool last = k + 1 == resized.size();
    x = builder.compute(last ? "Y" : fmt::format("T{}", k + 1), axes, value,
                        last ? shape.element : value.type().scalar);
  }
}

Status check(const ResizeShape& shape) {
  TRY(require_dimensions("resize", shape.shape));
  if (shape.shape.size() != shape.to.size()) {
    return fail(ErrorKind::BadInput, fmt::format("resize: {} has {} dimensions and {} has {}",
                                                 fmt::join(shape.shape, "x"), shape.shape.size(),
                                                 fmt::join(shape.to, "x"), shape.to.size()));
  }
  for (size_t d = 0; d < shape.to.size(); ++d) {
    const int64_t largest = std::max(shape.shape[d], shape.to[d]);
    if (shape.shape[d] != shape.to[d] && largest > kMaxResized) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("resize: dimension {} has the extent {}; up to {} can be resized", d,
                              largest, kMaxResized));
    }
  }
  if (shape.mode == ResizeMode::Nearest) return {};
  return require_float("resize:mode=linear", shape.element);
}

std::vector<Parameter> parameters() {
  const auto text = [](std::string_view name, std::string_view doc, std::string_view fallback) {
    return Parameter{.name = name, .doc = doc, .fallback = fallback, .kind = ParameterKind::Text};
  };
  return {shape_parameter("extents of X, such as 1x4x4x3"),
          {.name = "to", .doc = "extents of Y, such as 1x8x8x3", .kind = ParameterKind::Shape},
          text("mode", "nearest linear", "nearest"),
          text("coordinates", "half_pixel asymmetric align_corners", "half_pixel"),
          text("rounding", "of nearest: floor ceil round_prefer_floor round_prefer_ceil",
               "round_prefer_floor"),
          dtype_parameter()};
}

}  // namespace

Result<std::shared_ptr<const Dag>> resize(const ResizeShape& shape) {
  TRY(check(shape));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape.shape), shape.element);
  if (shape.mode == ResizeMode::Linear && shape.shape != shape.to) {
    add_linear(builder, x, shape);
  } else {
    add_nearest(builder, x, shape);
  }
  return std::move(builder).build();
}

Operator resize_operator() {
  return {.name = "resize",
          .doc = "X[shape] -> Y[to], sampled at positions spread evenly",
          .parameters = parameters(),
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto mode = TRY(choose("resize", "mode", arguments.text("mode"), kModes));
            const auto coordinates =
                TRY(choose("resize", "coordinates", arguments.text("coordinates"), kCoordinates));
            const auto rounding =
                TRY(choose("resize", "rounding", arguments.text("rounding"), kRoundings));
            return resize({.shape = arguments.shape("shape"),
                           .to = arguments.shape("to"),
                           .mode = static_cast<ResizeMode>(mode),
                           .coordinates = static_cast<Coordinates>(coordinates),
                           .rounding = static_cast<Rounding>(rounding),
                           .element = arguments.scalar("dtype")});
          }};
}

}  // namespace tilewright::te
