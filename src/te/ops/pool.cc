#include "te/ops/pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

#include "base/saturating.h"
#include "te/ops/conv_window.h"
#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

constexpr std::string_view kKinds[] = {"max", "average"};  // Lp has no text
constexpr std::string_view kSpatialNames[] = {"z", "y", "x"};

std::string_view spatial_name(size_t dimension, size_t rank) {
  return kSpatialNames[std::size(kSpatialNames) - rank + dimension];
}

Status check(std::string_view op, const PoolShape& shape) {
  if (shape.spatial.empty() || shape.spatial.size() > std::size(kSpatialNames)) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: {} spatial dimensions; 1 to {} are supported", op,
                            shape.spatial.size(), std::size(kSpatialNames)));
  }
  if (shape.kind != PoolKind::Max) {
    return require_float(fmt::format("{}:op={}", op, shape.kind == PoolKind::Lp ? "lp" : "average"),
                         shape.element);
  }
  return require_number(op, shape.element);
}

TensorId add_input(DagBuilder& builder, const PoolShape& shape) {
  std::vector<Extent> extents = {shape.n};
  if (shape.channels_first) extents.emplace_back(shape.c);
  extents.insert(extents.end(), shape.spatial.begin(), shape.spatial.end());
  if (!shape.channels_first) extents.emplace_back(shape.c);
  return builder.placeholder("X", std::move(extents), shape.element);
}

size_t first_spatial(const PoolShape& shape) { return shape.channels_first ? 2 : 1; }

// Axes n, the `spatial` ones (none: they are reduced), c.
std::vector<Axis> pooled_axes(DagBuilder& builder, const PoolShape& shape,
                              const std::vector<int64_t>& spatial) {
  std::vector<Axis> axes = {builder.axis("n", shape.n)};
  if (shape.channels_first) axes.push_back(builder.axis("c", shape.c));
  for (size_t d = 0; d < spatial.size(); ++d) {
    axes.push_back(builder.axis(spatial_name(d, spatial.size()), spatial[d]));
  }
  if (!shape.channels_first) axes.push_back(builder.axis("c", shape.c));
  return axes;
}

std::vector<Axis> window_axes(DagBuilder& builder, const std::vector<int64_t>& extents) {
  std::vector<Axis> axes;
  axes.reserve(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    axes.push_back(builder.axis(fmt::format("r{}", spatial_name(d, extents.size())), extents[d]));
  }
  return axes;
}

// The identity of the reduction: the lowest value, or 0.
Expr neutral(PoolKind kind, ir::Scalar scalar) {
  const auto op = kind == PoolKind::Max ? ir::BinaryOp::Max : ir::BinaryOp::Add;
  return make_reduction(op, scalar).identity[0];
}

// |x|^p and its inverse.
Expr raised(const Expr& x, int64_t p) {
  if (p == 1) return ir::call(ir::Intrinsic::Abs, {x});
  if (p == 2) return x * x;
  return ir::call(ir::Intrinsic::Pow,
                  {ir::call(ir::Intrinsic::Abs, {x}), ir::imm(static_cast<double>(p), x.type())});
}
Expr rooted(const Expr& x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return ir::call(ir::Intrinsic::Sqrt, {x});
  return ir::call(ir::Intrinsic::Pow, {x, ir::imm(1 / static_cast<double>(p), x.type())});
}

// The reduction of `value` over a window, and for an average its division by `count`, a function of
// the positions of the window.
void add_fold(DagBuilder& builder, const PoolShape& shape, const std::vector<Axis>& axes,
              const std::vector<Axis>& window, const Expr& value,
              const std::vector<int64_t>& outputs,
              const std::function<Expr(std::span<const Expr>)>& count) {
  if (shape.kind == PoolKind::Max) {
    builder.reduce("Y", axes, window, ir::BinaryOp::Max, value, shape.element);
    return;
  }
  const bool lp = shape.kind == PoolKind::Lp;
  const TensorId sum = builder.reduce("S", axes, window, ir::BinaryOp::Add,
                                      lp ? raised(value, shape.p) : value, value.type().scalar);
  const std::vector<Axis> out = pooled_axes(builder, shape, outputs);
  const std::vector<Expr> at = vars_of(out);
  if (lp) {
    builder.compute("Y", out, rooted(builder.read(sum, at), shape.p), shape.element);
    return;
  }
  const Expr elements = count(std::span(at).subspan(first_spatial(shape), outputs.size()));
  builder.compute("Y", out, builder.read(sum, at) / ir::cast(value.type().scalar, elements),
                  shape.element);
}

// `P`: X padded with the identity.
TensorId add_border(DagBuilder& builder, TensorId x, const PoolShape& shape,
                    const PoolWindow& window) {
  std::vector<int64_t> bordered = shape.spatial;
  for (size_t d = 0; d < bordered.size(); ++d) bordered[d] += window.pad[d] + window.end_of(d);
  const std::vector<Axis> axes = pooled_axes(builder, shape, bordered);
  std::vector<Expr> indices = vars_of(axes);
  Expr inside;
  const auto also = [&inside](const Expr& condition) {
    inside = inside.defined() ? inside && condition : condition;
  };
  for (size_t d = 0; d < shape.spatial.size(); ++d) {
    Expr& index = indices[d + first_spatial(shape)];
    const int64_t below = window.pad[d], above = window.end_of(d);
    if (below > 0 && above > 0) {
      also(index >= below && index < shape.spatial[d] + below);
    } else if (below > 0) {
      also(index >= below);
    } else if (above > 0) {
      also(index < shape.spatial[d]);
    }
    if (below > 0) index = index - below;
  }
  if (!inside.defined()) return x;
  const Expr value = builder.read(x, std::move(indices));
  return builder.compute("P", axes,
                         ir::select(inside, value, neutral(shape.kind, value.type().scalar)),
                         shape.element);
}

// Windows along a dimension; 0 when none fits.
int64_t windows_of(const PoolShape& shape, const PoolWindow& window, size_t d) {
  const int64_t room = shape.spatial[d] + window.pad[d] + window.end_of(d) - window.length_of(d);
  return room < 0 ? 0 : room / window.stride[d] + 1;
}

Status check_window(const PoolShape& shape, const PoolWindow& window) {
  for (size_t d = 0; d < shape.spatial.size(); ++d) {
    const int64_t count = windows_of(shape, window, d);
    if (count < 1) {
      return fail(ErrorKind::BadInput,
                  fmt::format("pool: a {} kernel does not fit into {} with pad={}",
                              fmt::join(window.kernel, "x"), fmt::join(shape.spatial, "x"),
                              fmt::join(window.pad, "x")));
    }
    const bool ends_before = window.pad[d] >= window.length_of(d);
    const bool begins_behind =
        window.pad_end.empty() ? ends_before
                               : (count - 1) * window.stride[d] >= shape.spatial[d] + window.pad[d];
    if (ends_before || begins_behind) {
      return fail(ErrorKind::BadInput,
                  fmt::format("pool: pad={} is not smaller than kernel={}: some windows would hold "
                              "no element",
                              fmt::join(window.pad, "x"), fmt::join(window.kernel, "x")));
    }
  }
  return {};
}

// The number of elements in [low, high), along one dimension, of the window that begins at `first`.
Expr covered_along(const Expr& first, int64_t low, int64_t high, int64_t kernel, int64_t step) {
  if (step == 1) {
    return ir::min(first + kernel, ir::int_imm(high)) - ir::max(first, ir::int_imm(low));
  }
  const Expr before = ir::max((ir::int_imm(low + step - 1) - first) / step, ir::int_imm(0));
  const Expr last = ir::min((ir::int_imm(high - 1) - first) / step, ir::int_imm(kernel - 1));
  return last - before + 1;
}

// How many elements the window at `positions` covers: those of X, or with count_include_pad those
// of the border too.
Expr covered(std::span<const Expr> positions, const PoolShape& shape, const PoolWindow& window) {
  Expr count = ir::int_imm(1);
  for (size_t d = 0; d < positions.size(); ++d) {
    Expr extent = ir::int_imm(window.kernel[d]);
    const int64_t below = window.pad[d], above = window.end_of(d);
    const int64_t cut = window.uncounted_of(d);
    if (window.count_include_pad ? cut > 0 : below > 0 || above > 0) {
      const Expr start = positions[d] * window.stride[d];
      const int64_t low = window.count_include_pad ? -below : 0;
      const int64_t high = shape.spatial[d] + (window.count_include_pad ? above - cut : 0);
      extent = covered_along(below == 0 ? start : start - below, low, high, window.kernel[d],
                             window.step_of(d));
    }
    count = d == 0 ? extent : count * extent;
  }
  return count;
}

// Adaptive windows along one dimension: where `position` begins and ends, and the shortest and
// longest there are. With g = gcd(extent, to) a window starts r / (to/g) behind an integer for
// every r < to/g, and so has ceil((r + extent/g) / (to/g)) elements.
struct AdaptiveDim {
  int64_t extent = 1, to = 1;

  Expr begin(const Expr& position) const { return position * extent / to; }
  Expr end(const Expr& position) const { return (position * extent + (extent + to - 1)) / to; }
  int64_t shortest() const { return (extent + to - 1) / to; }
  int64_t longest() const {
    const int64_t g = std::gcd(extent, to);
    return (extent / g + 2 * (to / g) - 2) / (to / g);
  }
};

std::vector<Parameter> shape_parameters() {
  return {{.name = "op", .doc = "max or average", .kind = ParameterKind::Text},
          {.name = "n", .doc = "batch", .fallback = "1"},
          {.name = "spatial",
           .doc = "1 to 3 extents of the input, such as 14x14",
           .kind = ParameterKind::Shape},
          {.name = "c", .doc = "channels"}};
}

Result<PoolShape> shape_of(std::string_view op, const Arguments& arguments) {
  const auto kind = TRY(choose(op, "op", arguments.text("op"), kKinds));
  return PoolShape{.kind = static_cast<PoolKind>(kind),
                   .n = arguments.integer("n"),
                   .spatial = arguments.shape("spatial"),
                   .c = arguments.integer("c"),
                   .element = arguments.scalar("dtype")};
}

Result<PoolWindow> window_of(const Arguments& arguments) {
  PoolWindow window{.kernel = {},
                    .stride = {},
                    .pad = {},
                    .count_include_pad = arguments.flag("count_include_pad")};
  const std::pair<std::string_view, std::vector<int64_t>*> lists[] = {
      {"kernel", &window.kernel}, {"stride", &window.stride}, {"pad", &window.pad}};
  for (const auto& [name, list] : lists) {
    auto numbers =
        TRY(per_dimension("pool", name, arguments.shape(name), arguments.shape("spatial").size()));
    *list = std::move(numbers);
  }
  return window;
}

}  // namespace

Result<std::shared_ptr<const Dag>> pool(const PoolShape& shape, const PoolWindow& window) {
  TRY(check("pool", shape));
  TRY(check_window(shape, window));
  DagBuilder builder;
  const TensorId x = add_border(builder, add_input(builder, shape), shape, window);
  std::vector<int64_t> outputs;
  outputs.reserve(shape.spatial.size());
  for (size_t d = 0; d < shape.spatial.size(); ++d) outputs.push_back(windows_of(shape, window, d));
  const std::vector<Axis> axes = pooled_axes(builder, shape, outputs);
  const std::vector<Axis> taps = window_axes(builder, window.kernel);
  std::vector<Expr> indices = vars_of(axes);
  for (size_t d = 0; d < taps.size(); ++d) {
    Expr& index = indices[d + first_spatial(shape)];
    index = times(index, window.stride[d]) + times(taps[d].var, window.step_of(d));
  }
  const bool whole = window.count_include_pad && window.uncounted.empty();
  const auto count = [&](std::span<const Expr> positions) {
    return whole ? ir::int_imm(saturating_product(window.kernel))
                 : covered(positions, shape, window);
  };
  add_fold(builder, shape, axes, taps, builder.read(x, indices), outputs, count);
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> global_pool(const PoolShape& shape) {
  TRY(check("global_pool", shape));
  DagBuilder builder;
  const TensorId x = add_input(builder, shape);
  const std::vector<Axis> axes = pooled_axes(builder, shape, {});
  const std::vector<Axis> taps = window_axes(builder, shape.spatial);
  std::vector<Expr> indices = vars_of(taps);
  indices.insert(indices.begin(), axes[0].var);
  indices.push_back(axes[1].var);
  add_fold(builder, shape, axes, taps, builder.read(x, indices), {},
           [&](std::span<const Expr>) { return ir::int_imm(saturating_product(shape.spatial)); });
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> adaptive_pool(const PoolShape& shape,
                                                 const std::vector<int64_t>& to) {
  TRY(check("adaptive_pool", shape));
  DagBuilder builder;
  const TensorId x = add_input(builder, shape);
  std::vector<AdaptiveDim> dims;
  std::vector<int64_t> longest;
  for (size_t d = 0; d < to.size(); ++d) {
    dims.push_back({.extent = shape.spatial[d], .to = to[d]});
    longest.push_back(dims[d].longest());
  }
  const std::vector<Axis> axes = pooled_axes(builder, shape, to);
  const std::vector<Axis> taps = window_axes(builder, longest);
  std::vector<Expr> indices = vars_of(axes);
  Expr inside;
  for (size_t d = 0; d < dims.size(); ++d) {
    Expr& index = indices[d + 1];
    const Expr end = dims[d].end(index);
    index = dims[d].begin(index) + taps[d].var;
    if (dims[d].shortest() == longest[d]) continue;
    inside = inside.defined() ? inside && index < end : index < end;
  }
  Expr value = builder.read(x, indices);
  if (inside.defined()) {
    value = ir::select(inside, value, neutral(shape.kind, value.type().scalar));
  }
  add_fold(builder, shape, axes, taps, value, to, [&](std::span<const Expr> positions) {
    Expr count = ir::int_imm(1);
    for (size_t d = 0; d < dims.size(); ++d) {
      const Expr extent = dims[d].end(positions[d]) - dims[d].begin(positions[d]);
      count = d == 0 ? extent : count * extent;
    }
    return count;
  });
  return std::move(builder).build();
}

Operator pool_operator() {
  std::vector<Parameter> parameters = shape_parameters();
  parameters.insert(parameters.end(),
                    {{.name = "kernel",
                      .doc = "extents of a window, such as 3x3, or one for all",
                      .kind = ParameterKind::Shape},
                     {.name = "stride",
                      .doc = "steps between windows, or one for all",
                      .fallback = "1",
                      .kind = ParameterKind::Shape},
                     {.name = "pad",
                      .doc = "border on each side, or one for all",
                      .fallback = "0",
                      .kind = ParameterKind::Shape,
                      .low = 0},
                     flag_parameter("count_include_pad", "1: averages include the padding"),
                     dtype_parameter()});
  return {.name = "pool",
          .doc = "X[n,spatial,c] -> Y[n,windows,c], the maximum or average of each window",
          .parameters = std::move(parameters),
          .operands = {},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("pool", arguments));
            const auto window = TRY(window_of(arguments));
            return pool(shape, window);
          }};
}

Operator global_pool_operator() {
  std::vector<Parameter> parameters = shape_parameters();
  parameters.push_back(dtype_parameter());
  return {.name = "global_pool",
          .doc = "X[n,spatial,c] -> Y[n,c], the maximum or average of each channel",
          .parameters = std::move(parameters),
          .operands = {},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("global_pool", arguments));
            return global_pool(shape);
          }};
}

Operator adaptive_pool_operator() {
  std::vector<Parameter> parameters = shape_parameters();
  parameters.insert(
      parameters.end(),
      {{.name = "to", .doc = "windows, such as 3x3, or one for all", .kind = ParameterKind::Shape},
       dtype_parameter()});
  return {.name = "adaptive_pool",
          .doc = "X[n,spatial,c] -> Y[n,to,c], the maximum or average of windows spread evenly",
          .parameters = std::move(parameters),
          .operands = {},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("adaptive_pool", arguments));
            const auto to = TRY(
                per_dimension("adaptive_pool", "to", arguments.shape("to"), shape.spatial.size()));
            return adaptive_pool(shape, to);
          }};
}

}  // namespace tilewright::te
