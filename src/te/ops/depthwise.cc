#include "te/ops/depthwise.h"

#include <fmt/format.h>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "depthwise_conv2d";

// co and groups are redundant with ci, but tables of workloads have them.
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
  TRY(require_channels(arguments));
  auto window = TRY(window_of(kName, arguments, 2));
  return depthwise_conv({.n = arguments.integer("n"),
                         .window = std::move(window),
                         .channels = arguments.integer("ci"),
                         .element = arguments.scalar("dtype")});
}

}  // namespace

Result<std::shared_ptr<const Dag>> depthwise_conv(const DepthwiseShape& shape) {
  const Window& window = shape.window;
  TRY(require_number(kName, shape.element));
  TRY(require_fit(kName, window));

  DagBuilder builder;
  std::vector<Extent> input = {shape.n}, kernel = extents_of(window.kernel);
  input.insert(input.end(), window.input.begin(), window.input.end());
  input.emplace_back(shape.channels);
  if (shape.unit_dimension) kernel.emplace_back(1);
  kernel.emplace_back(shape.channels);
  const TensorId x = builder.placeholder("X", std::move(input), shape.element);
  const TensorId weight = builder.placeholder("W", std::move(kernel), shape.element);
  const TensorId bordered = add_border(builder, x, shape.n, window,
                                       {{.axis = "c", .inside = shape.channels}}, shape.element);
  std::vector<Axis> axes = {builder.axis("n", shape.n)};
  for (Axis& axis : output_axes(builder, window)) axes.push_back(std::move(axis));
  axes.push_back(builder.axis("c", shape.channels));
  const std::vector<Axis> taps = tap_axes(builder, window.kernel);
  std::vector<ir::Expr> from = {axes[0].var}, factor = vars_of(taps);
  for (size_t d = 0; d < window.rank(); ++d) {
    from.push_back(window.index(d, axes[d + 1].var, taps[d].var));
  }
  from.push_back(axes.back().var);
  if (shape.unit_dimension) factor.push_back(ir::int_imm(0));
  factor.push_back(axes.back().var);
  const ir::Scalar sum = accumulator_of(shape.element);
  const ir::Expr product =
      ir::cast(sum, builder.read(bordered, from)) * ir::cast(sum, builder.read(weight, factor));
  builder.reduce("Y", axes, taps, ir::BinaryOp::Add, product, result_of(shape.element));
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
