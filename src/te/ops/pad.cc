#include "te/ops/pad.h"

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

constexpr std::string_view kModes[] = {"constant", "edge", "reflect", "wrap"};

// (index - before) mod period, of a sum that is never negative.
Expr modulo(const Expr& index, int64_t before, int64_t period) {
  const int64_t up = (period - before % period) % period;
  return (up == 0 ? index : index + up) % period;
}

// The index of X that `index` of Y reads along one dimension; for Constant it may be out of bounds.
Expr source(const Expr& index, int64_t extent, int64_t before, int64_t after, PadMode mode) {
  if (before == 0 && after == 0) return index;
  switch (mode) {
    case PadMode::Constant:
      return before == 0 ? index : index - before;
    case PadMode::Edge:
      return ir::min(ir::max(index - before, ir::int_imm(0)), ir::int_imm(extent - 1));
    case PadMode::Reflect: {
      if (extent == 1) return ir::int_imm(0);
      const int64_t period = 2 * (extent - 1);
      const Expr there = modulo(index, before, period);
      return ir::min(there, ir::int_imm(period) - there);
    }
    case PadMode::Wrap:
      return modulo(index, before, extent);
  }
  return index;
}

// Whether `index` of Y is within X along one dimension, and `others` hold; `others` may be null.
Expr and_inside(const Expr& others, const Expr& index, int64_t extent, int64_t before,
                int64_t after) {
  Expr inside = others;
  const auto also = [&inside](const Expr& condition) {
    inside = inside.defined() ? inside && condition : condition;
  };
  if (before > 0) also(index >= before);
  if (after > 0) also(index < before + extent);
  return inside;
}

}  // namespace

Result<std::shared_ptr<const Dag>> pad(const PadShape& shape) {
  TRY(require_dimensions("pad", shape.shape));
  TRY(require_value("pad", shape.value, shape.element));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape.shape), shape.element);
  std::vector<int64_t> bordered = shape.shape;
  for (size_t d = 0; d < bordered.size(); ++d) bordered[d] += shape.before[d] + shape.after[d];
  const std::vector<Axis> axes = axes_of(builder, bordered);
  std::vector<Expr> indices;
  Expr inside;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Expr& index = axes[d].var;
    const int64_t extent = shape.shape[d], before = shape.before[d], after = shape.after[d];
    indices.push_back(source(index, extent, before, after, shape.mode));
    if (shape.mode == PadMode::Constant) {
      inside = and_inside(inside, index, extent, before, after);
    }
  }
  Expr value = builder.read(x, std::move(indices));
  if (inside.defined()) value = ir::select(inside, value, ir::imm(shape.value, value.type()));
  builder.compute("Y", axes, value, shape.element);
  return std::move(builder).build();
}

Operator pad_operator() {
  return {.name = "pad",
          .doc = "X[shape] -> Y[before + shape + after]",
          .parameters = {shape_parameter("extents of X, such as 64x128"),
                         {.name = "before",
                          .doc = "elements before each dimension, or one number for all",
                          .fallback = "0",
                          .kind = ParameterKind::Shape,
                          .low = 0},
                         {.name = "after",
                          .doc = "elements behind each dimension, or one number for all",
                          .fallback = "0",
                          .kind = ParameterKind::Shape,
                          .low = 0},
                         {.name = "mode",
                          .doc = "constant edge reflect wrap",
                          .fallback = "constant",
                          .kind = ParameterKind::Text},
                         {.name = "value",
                          .doc = "of a constant border",
                          .fallback = "0",
                          .kind = ParameterKind::Number,
                          .quiet = true},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto mode = TRY(choose("pad", "mode", arguments.text("mode"), kModes));
            const size_t rank = arguments.shape("shape").size();
            const auto before =
                TRY(per_dimension("pad", "before", arguments.shape("before"), rank));
            const auto after = TRY(per_dimension("pad", "after", arguments.shape("after"), rank));
            return pad({.shape = arguments.shape("shape"),
                        .before = before,
                        .after = after,
                        .mode = static_cast<PadMode>(mode),
                        .value = arguments.number("value"),
                        .element = arguments.scalar("dtype")});
          }};
}

}  // namespace tilewright::te
