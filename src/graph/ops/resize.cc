// resize(x; to, mode=nearest|linear|cubic, coordinates=half_pixel, rounding=round_prefer_floor,
//        scales, roi, extrapolation=0, cubic_a=-0.75, exclude_outside=0, antialias=0)
//
// Resamples x as ONNX's Resize: element o of a dimension samples position p(o):
//
//   half_pixel             (o + 1/2) / scale - 1/2
//   half_pixel_symmetric   the same about the center, if scale * in is not an integer
//   pytorch_half_pixel     the same, 0 if out is 1
//   asymmetric             o / scale
//   align_corners          o (in - 1) / (scale in - 1), 0 when out is 1
//   tf_crop_and_resize     evenly from roi begin to roi end (fractions of in - 1);
//                          positions outside x take the value `extrapolation`
//
// `to` has the extents of the result. `scales`, a text such as "1,1,2,2.5", has one number per
// dimension; the default is to / extent. `roi`, also a text, has all begins, then all ends.
//
// The modes that te/ops/resize.h has are its Dag. Otherwise nearest is one stage Y, and linear and
// cubic have, for each resized dimension d, a stage Wd[o, t] with the weights of the taps around
// p(o) (with antialias as many as the kernel, stretched by 1 / scale, covers), a stage Nd[o] with
// their sum if that is not 1, then the sum of weighted taps, outermost dimension first.
#include "te/ops/resize.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

using ir::Expr;
using ir::Scalar;

constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
enum class Mode : uint8_t { Nearest, Linear, Cubic };
constexpr std::string_view kRoundings[] = {"floor", "ceil", "round_prefer_floor",
                                           "round_prefer_ceil"};
constexpr std::string_view kCoordinates[] = {"half_pixel",         "asymmetric",
                                             "align_corners",      "pytorch_half_pixel",
                                             "tf_crop_and_resize", "half_pixel_symmetric"};
enum class CoordinateMode : uint8_t {
  HalfPixel,
  Asymmetric,
  AlignCorners,
  PyTorch,
  Crop,
  Symmetric
};

constexpr double kMaxTaps = 4096;

struct Plan {
  Shape from, to;
  Mode mode = Mode::Nearest;
  CoordinateMode coordinates = CoordinateMode::HalfPixel;
  te::Rounding rounding = te::Rounding::PreferFloor;
  std::vector<double> scales;  // empty: quotients of extents
  std::vector<double> roi;
  double extrapolation = 0, cubic_a = -0.75;
  bool exclude_outside = false, antialias = false;

  double scale(size_t d) const {
    return scales.empty() ? static_cast<double>(to[d]) / static_cast<double>(from[d]) : scales[d];
  }
  bool changes(size_t d) const {
    return from[d] != to[d] || scale(d) != 1 ||
           (coordinates == CoordinateMode::Crop && (roi[d] != 0 || roi[d + from.size()] != 1));
  }
};

// Numbers separated by commas; nothing unless there are `size` finite ones.
std::optional<std::vector<double>> numbers_of(const std::string& text, size_t size) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    double value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc{} || !std::isfinite(value)) return {};
    numbers.push_back(value);
    at = parsed.ptr;
    if (at == end) break;
    if (*at != ',') return {};
    ++at;
  }
  if (numbers.size() != size) return {};
  return numbers;
}

Result<Plan> plan_of(const OpDef& op, const Attributes& attributes, const TensorType& x) {
  const size_t rank = x.shape.size();
  Reader read(op, attributes);
  Plan plan;
  plan.from = x.shape;
  plan.to = read.list("to", rank, 0, te::kMaxParameter);
  plan.mode = static_cast<Mode>(read.choice("mode", "nearest", kModes));
  plan.coordinates =
      static_cast<CoordinateMode>(read.choice("coordinates", "half_pixel", kCoordinates));
  plan.rounding =
      static_cast<te::Rounding>(read.choice("rounding", "round_prefer_floor", kRoundings));
  plan.extrapolation = read.number("extrapolation", 0);
  plan.cubic_a = read.number("cubic_a", -0.75);
  plan.exclude_outside = read.flag("exclude_outside");
  plan.antialias = read.flag("antialias");
  TRY(read.status());
  if (attributes.has("scales")) {
    const auto scales = numbers_of(attributes.text("scales"), rank);
    bool positive = scales.has_value();
    for (size_t d = 0; positive && d < rank; ++d) positive = (*scales)[d] > 0;
    if (!positive) {
      return bad(op, fmt::format("scales={} should have {} positive numbers",
                                 attributes.text("scales"), rank));
    }
    plan.scales = *scales;
  }
  if (plan.coordinates == CoordinateMode::Crop) {
    const auto roi = numbers_of(attributes.text("roi", ""), 2 * rank);
    if (!roi) {
      return bad(
          op, fmt::format("roi={} should have {} numbers", attributes.text("roi", ""), 2 * rank));
    }
    plan.roi = *roi;
  }
  TRY(require_result(op, plan.to));
  return plan;
}

// The parameters of te::resize, if it has the mode.
std::optional<te::ResizeShape> known_form(const Plan& plan, Scalar element) {
  if (plan.mode == Mode::Cubic || plan.antialias || plan.coordinates == CoordinateMode::Crop)
    return {};
  bool single = false;  // a resized dimension with one element
  for (size_t d = 0; d < plan.from.size(); ++d) {
    const double quotient = static_cast<double>(plan.to[d]) / static_cast<double>(plan.from[d]);
    if (std::fabs(plan.scale(d) - quotient) > 1e-9 * quotient) return {};
    single = single || (plan.to[d] == 1 && plan.from[d] != 1);
  }
  if (plan.coordinates == CoordinateMode::PyTorch && single) return {};
  const bool half = plan.coordinates == CoordinateMode::HalfPixel ||
                    plan.coordinates == CoordinateMode::PyTorch ||
                    plan.coordinates == CoordinateMode::Symmetric;
  return te::ResizeShape{
      .shape = plan.from,
      .to = plan.to,
      .mode = plan.mode == Mode::Linear ? te::ResizeMode::Linear : te::ResizeMode::Nearest,
      .coordinates = half ? te::Coordinates::HalfPixel
                     : plan.coordinates == CoordinateMode::Asymmetric
                         ? te::Coordinates::Asymmetric
                         : te::Coordinates::AlignCorners,
      .rounding = plan.rounding,
      .element = element};
}

// p(o) = slope * o + offset, in f64.
struct Line {
  double slope = 0, offset = 0;
  Expr at(const Expr& o) const {
    const Expr place = ir::cast(Scalar::F64, o);
    return place * number(slope, place) + number(offset, place);
  }
};

Line line_of(const Plan& plan, size_t d) {
  const auto in = static_cast<double>(plan.from[d]), out = static_cast<double>(plan.to[d]);
  const double scale = plan.scale(d);
  const Line half{.slope = 1 / scale, .offset = 0.5 / scale - 0.5};
  switch (plan.coordinates) {
    case CoordinateMode::HalfPixel:
      return half;
    case CoordinateMode::PyTorch:
      return plan.to[d] > 1 ? half : Line{};
    case CoordinateMode::Symmetric:
      return {.slope = half.slope, .offset = half.offset + in / 2 * (1 - out / (scale * in))};
    case CoordinateMode::Asymmetric:
      return {.slope = 1 / scale, .offset = 0};
    case CoordinateMode::AlignCorners:
      return plan.to[d] > 1 ? Line{.slope = (in - 1) / (scale * in - 1), .offset = 0} : Line{};
    case CoordinateMode::Crop: {
      const double begin = plan.roi[d], end = plan.roi[d + plan.from.size()];
      if (plan.to[d] == 1) return {.slope = 0, .offset = (begin + end) / 2 * (in - 1)};
      return {.slope = (end - begin) * (in - 1) / (out - 1), .offset = begin * (in - 1)};
    }
  }
  return {};
}

Expr floor_of(const Expr& x) { return call(ir::Intrinsic::Floor, x); }

// The element before a position, from which taps are counted. Stages that recompute it may round
// differently (with a fused multiply-add or without) and must agree: a position just before an
// element counts as that element, which leaves some tolerance on both sides of positions that are
// elements. Weights are continuous, and the position itself is unchanged.
Expr base_of(const Expr& place) { return floor_of(place + number(0x1p-22, place)); }

Expr rounded(const Expr& x, te::Rounding rounding) {
  const Expr half = number(0.5, x);
  const auto ceil = [&](const Expr& value) {
    return call(ir::Intrinsic::Neg, floor_of(call(ir::Intrinsic::Neg, value)));
  };
  switch (rounding) {
    case te::Rounding::Floor:
      return floor_of(x);
    case te::Rounding::Ceil:
      return ceil(x);
    case te::Rounding::PreferFloor:
      return ceil(x - half);
    case te::Rounding::PreferCeil:
      return floor_of(x + half);
  }
  return x;
}

// The taps of one dimension: element base + first + t has the weight of its distance from p.
struct Taps {
  int64_t first = 0, count = 1;
  double stretch = 1;  // factor of distances
};

Result<Taps> taps_of(const OpDef& op, const Plan& plan, size_t d) {
  const double reach = plan.mode == Mode::Cubic ? 2 : 1;
  const double stretch = plan.antialias ? std::min(plan.scale(d), 1.0) : 1;
  const double first = std::floor(-reach / stretch) + 1;
  const double count = 2 - 2 * first;
  if (!(count <= kMaxTaps)) {
    return unsupported(
        op, fmt::format("{:.3g} taps of dimension {}; up to {} are supported", count, d, kMaxTaps));
  }
  return Taps{.first = static_cast<int64_t>(first),
              .count = static_cast<int64_t>(count),
              .stretch = stretch};
}

// The weight at the distance z >= 0 (Keys, 1981, for cubic).
Expr weight_of(const Plan& plan, const Expr& z) {
  const Expr one = number(1, z), zero = number(0, z);
  if (plan.mode == Mode::Linear) return ir::max(one - z, zero);
  const double a = plan.cubic_a;
  const Expr near = ((z * number(a + 2, z) - number(a + 3, z)) * z) * z + one;
  const Expr far =
      ((z * number(a, z) - number(5 * a, z)) * z + number(8 * a, z)) * z - number(4 * a, z);
  return ir::select(z < one, near, ir::select(z < number(2, z), far, zero));
}

class Resizer {
 public:
  Resizer(const OpDef& op, const Plan& plan, const TensorType& x) : op_(op), plan_(plan), type_(x) {
    x_ = placeholder(builder_, "X", x);
  }

  DagResult nearest() && {
    const std::vector<te::Axis> axes = te::axes_of(builder_, plan_.to);
    std::vector<Expr> at = te::vars_of(axes);
    for (size_t d = 0; d < at.size(); ++d) {
      if (!plan_.changes(d)) continue;
      const Expr place = rounded(line_of(plan_, d).at(axes[d].var), plan_.rounding);
      at[d] = clamped(ir::cast(Scalar::I64, place), plan_.from[d]);
    }
    const Expr value = outside_or(axes, builder_.read(x_, std::move(at)));
    return finish(std::move(builder_), axes, value, type_.element);
  }

  DagResult weighted() && {
    Shape extents = plan_.from;
    for (size_t d = 0; d < extents.size(); ++d) {
      if (!plan_.changes(d)) continue;
      extents[d] = plan_.to[d];
      TRY(add_dimension(extents, d));
    }
    const std::vector<te::Axis> axes = te::axes_of(builder_, plan_.to);
    const Expr value = outside_or(axes, builder_.read(x_, te::vars_of(axes)));
    return finish(std::move(builder_), axes, value, type_.element);
  }

 private:
  // x_ sampled along one more dimension.
  Status add_dimension(const Shape& extents, size_t d) {
    const auto taps = TRY(taps_of(op_, plan_, d));
    const te::TensorId weights = add_weights(taps, d);
    const bool normal = plan_.exclude_outside || plan_.antialias;
    const te::TensorId sums = normal ? add_sums(taps, weights, d) : 0;
    const std::vector<te::Axis> axes = te::axes_of(builder_, extents);
    const te::Axis tap = builder_.axis("t", taps.count);
    const Expr& o = axes[d].var;
    std::vector<Expr> at = te::vars_of(axes);
    at[d] = clamped(element_of(taps, d, o, tap.var), plan_.from[d]);
    const Expr value = builder_.read(x_, std::move(at));
    Expr weight = builder_.read(weights, {o, tap.var});
    if (normal) weight = weight / builder_.read(sums, {o});
    x_ = builder_.reduce(fmt::format("T{}", d), axes, {tap}, ir::BinaryOp::Add,
                         value * ir::cast(value.type().scalar, weight), value.type().scalar);
    return {};
  }

  // The index of the tap's element, which may be out of bounds.
  Expr element_of(const Taps& taps, size_t d, const Expr& o, const Expr& tap) const {
    const Expr base = ir::cast(Scalar::I64, base_of(line_of(plan_, d).at(o)));
    return base + taps.first + tap;
  }

  te::TensorId add_weights(const Taps& taps, size_t d) {
    const te::Axis o = builder_.axis("o", plan_.to[d]), tap = builder_.axis("t", taps.count);
    const Expr place = line_of(plan_, d).at(o.var);
    const Expr ratio = place - base_of(place);
    const Expr distance = ir::cast(Scalar::F64, tap.var + taps.first) - ratio;
    const Expr z = call(ir::Intrinsic::Abs, distance * number(taps.stretch, distance));
    Expr weight = weight_of(plan_, z);
    if (plan_.exclude_outside) {
      const Expr element = element_of(taps, d, o.var, tap.var);
      weight = ir::select(element >= 0 && element < plan_.from[d], weight, number(0, weight));
    }
    return builder_.compute(fmt::format("W{}", d), {o, tap}, weight);
  }

  te::TensorId add_sums(const Taps& taps, te::TensorId weights, size_t d) {
    const te::Axis o = builder_.axis("o", plan_.to[d]), tap = builder_.axis("t", taps.count);
    const Expr weight = builder_.read(weights, {o.var, tap.var});
    return builder_.reduce(fmt::format("N{}", d), {o}, {tap}, ir::BinaryOp::Add, weight,
                           weight.type().scalar);
  }

  // `value`, or the extrapolation if a position is outside.
  Expr outside_or(const std::vector<te::Axis>& axes, const Expr& value) const {
    if (plan_.coordinates != CoordinateMode::Crop) return value;
    Expr inside;
    for (size_t d = 0; d < axes.size(); ++d) {
      if (!plan_.changes(d)) continue;
      const Expr place = line_of(plan_, d).at(axes[d].var);
      inside = also(inside, place >= number(0, place));
      inside = inside && ir::binary(ir::BinaryOp::Le, place,
                                    number(static_cast<double>(plan_.from[d] - 1), place));
    }
    if (!inside.defined()) return value;
    return ir::select(inside, value,
                      number(ir::convert(plan_.extrapolation, value.type().scalar), value));
  }

  const OpDef& op_;
  const Plan& plan_;
  const TensorType& type_;
  te::DagBuilder builder_;
  te::TensorId x_ = 0;
};

DagResult build_resize(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  const auto plan = TRY(plan_of(op, attributes, x));
  if (plan.mode != Mode::Nearest) {
    TRY(require_float(op, x.element));
  }
  if (const auto known = known_form(plan, x.element); known && !x.shape.empty()) {
    return te::resize(*known);
  }
  Resizer resizer(op, plan, x);
  return plan.mode == Mode::Nearest ? std::move(resizer).nearest() : std::move(resizer).weighted();
}

constexpr OpDef kOps[] = {{"resize", Work::Rows, 1, 1, build_resize}};

}  // namespace

std::span<const OpDef> resize_ops() { return kOps; }

}  // namespace tilewright::graph
