#include "te/ops/depthwise.h"

#include <fmt/format.h>

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "depthwise_conv2d";

// co and groups say nothing that ci does not, but tables of workloads give them.
Status require_channels(const Arguments& arguments) {
  const int64_t ci = arguments.integer("ci");
  for (const std::string_view name : {"co", "groups"}) {
    const int64_t given = arguments.integer(name);
    if (given == 0 || given == ci) continue;
    return fail(ErrorKind::BadInput, fmt::format("{}: {}={} must be ci={}; conv2d takes any groups",
                                                 kName, name, given, ci));
  }
  return {};
}

Result<std::shared_ptr<const Dag>> build(const Arguments& arguments) {
  if (const Status legal = require_channels(arguments); !legal) {
    return std::unexpected(legal.error());
  }
  auto window = window_of(kName, arguments, 2);
  if (!window) return std::unexpected(window.error());
  return depthwise_conv2d({.n = arguments.integer("n"),
                           .window = *std::move(window),
                           .channels = arguments.integer("ci"),
                           .element = arguments.scalar("dtype")});
}

}  // namespace

Result<std::shared_ptr<const Dag>> depthwise_conv2d(const DepthwiseShape& shape) {
  const Window& window = shape.window;
  if (const Status number = require_number(kName, shape.element); !number) {
    return std::unexpected(number.error());
  }
  if (const Status fit = require_fit(kName, window); !fit) return std::unexpected(fit.error());

  DagBuilder builder;
  const TensorId x = builder.placeholder(
      "X", {shape.n, window.input[0], window.input[1], shape.channels}, shape.element);
  const TensorId weight =
      builder.placeholder("W", {window.kernel[0], window.kernel[1], shape.channels}, shape.element);
  const TensorId bordered = add_border(builder, x, shape.n, window,
                                       {{.axis = "c", .inside = shape.channels}}, shape.element);
  const Axis n = builder.axis("n", shape.n);
  const std::vector<Axis> at = output_axes(builder, window);
  const Axis c = builder.axis("c", shape.channels);
  const std::vector<Axis> taps = tap_axes(builder, window.kernel);
  const ir::Expr input = builder.read(bordered, {n.var, window.index(at[0].var, taps[0].var),
                                                 window.index(at[1].var, taps[1].var), c.var});
  const ir::Expr factor = builder.read(weight, {taps[0].var, taps[1].var, c.var});
  const ir::Scalar sum = accumulator_of(shape.element);
  builder.reduce("Y", {n, at[0], at[1], c}, taps, ir::BinaryOp::Add,
                 ir::cast(sum, input) * ir::cast(sum, factor), result_of(shape.element));
  return std::move(builder).build();
}

Operator depthwise_conv2d_operator() {
  const Parameter same = {.name = "co", .doc = "as ci", .fallback = "0", .low = 0, .quiet = true};
  Parameter groups = same;
  groups.name = "groups";
  return {.name = kName,
          .doc = "X[n,h,w,ci] W[kh,kw,ci] -> Y[n,ho,wo,ci]; W is constant by default",
          .parameters = joined({input_parameters(2),
                                {{.name = "ci", .doc = "channels"}, same},
                                kernel_parameters(2),
                                step_parameters(),
                                {groups, dtype_parameter()}}),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = build};
}

}  // namespace tilewright::te
