#include "te/ops/conv.h"

#include <fmt/format.h>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

std::string name_of_rank(const ConvShape& shape) {
  return fmt::format("conv{}d", shape.window.rank());
}

Status check(const ConvShape& shape) {
  const std::string op = name_of_rank(shape);
  const ir::Scalar weight = shape.weight_element.value_or(shape.element);
  TRY(require_factors(op, shape.element, weight));
  if (shape.ci % shape.groups != 0 || shape.co % shape.groups != 0) {
    return fail(ErrorKind::BadInput, fmt::format("{}: groups={} must divide ci={} and co={}", op,
                                                 shape.groups, shape.ci, shape.co));
  }
  return require_fit(op, shape.window);
}

// n, the spatial axes of the output, c; with channels first n, c, the spatial axes.
std::vector<Axis> axes_of_output(DagBuilder& builder, const ConvShape& shape) {
  std::vector<Axis> axes = {builder.axis("n", shape.n)};
  if (shape.channels_first) axes.push_back(builder.axis("c", shape.co));
  for (Axis& axis : output_axes(builder, shape.window)) axes.push_back(std::move(axis));
  if (!shape.channels_first) axes.push_back(builder.axis("c", shape.co));
  return axes;
}

// Stage `name`: `tensor` of the output's shape, combined with one number per channel.
TensorId add_per_channel(DagBuilder& builder, std::string_view name, TensorId tensor,
                         TensorId channels, ir::BinaryOp op, const ConvShape& shape) {
  const std::vector<Axis> axes = axes_of_output(builder, shape);
  return builder.compute(name, axes,
                         ir::binary(op, builder.read(tensor, vars_of(axes)),
                                    builder.read(channels, {axes.back().var})));
}

// The placeholders X and W.
std::pair<TensorId, TensorId> add_operands(DagBuilder& builder, const ConvShape& shape) {
  std::vector<Extent> input = {shape.n}, weight;
  if (shape.channels_first) {
    input.emplace_back(shape.ci);
    weight = {shape.co, shape.ci / shape.groups};
  }
  input.insert(input.end(), shape.window.input.begin(), shape.window.input.end());
  weight.insert(weight.end(), shape.window.kernel.begin(), shape.window.kernel.end());
  if (!shape.channels_first) {
    input.emplace_back(shape.ci);
    weight.insert(weight.end(), {shape.ci / shape.groups, shape.co});
  }
  const TensorId x = builder.placeholder("X", std::move(input), shape.element);
  const ir::Scalar weight_element = shape.weight_element.value_or(shape.element);
  return {x, builder.placeholder("W", std::move(weight), weight_element)};
}

// The convolution as stage `name`, with its placeholders and border; stored as `stored`.
TensorId add_conv(DagBuilder& builder, std::string_view name, const ConvShape& shape,
                  ir::Scalar stored) {
  const int64_t group_in = shape.ci / shape.groups;
  const int64_t group_out = shape.co / shape.groups;
  const auto [x, weight] = add_operands(builder, shape);
  const TensorId bordered =
      add_border(builder, x, shape.n, shape.window, {{.axis = "c", .inside = shape.ci}},
                 shape.element, shape.channels_first);

  const std::vector<Axis> axes = axes_of_output(builder, shape);
  std::vector<Axis> reduce_axes = tap_axes(builder, shape.window.kernel);
  const size_t first = shape.channels_first ? 2 : 1;  // spatial axis
  const Axis &n = axes.front(), &c = shape.channels_first ? axes[1] : axes.back();
  const Axis rc = builder.axis("rc", group_in);
  const ir::Expr channel =
      shape.groups == 1 ? rc.var : times(quotient(c.var, group_out), group_in) + rc.var;
  std::vector<ir::Expr> from = {n.var}, factor;
  if (shape.channels_first) {
    from.push_back(channel);
    factor = {c.var, rc.var};
  }
  for (size_t d = 0; d < shape.window.rank(); ++d) {
    from.push_back(shape.window.index(d, axes[d + first].var, reduce_axes[d].var));
    factor.push_back(reduce_axes[d].var);
  }
  if (shape.channels_first) {
    reduce_axes.insert(reduce_axes.begin(), rc);
  } else {
    from.push_back(channel);
    factor.insert(factor.end(), {rc.var, c.var});
    reduce_axes.push_back(rc);
  }
  const ir::Scalar sum = accumulator_of(shape.element);
  return builder.reduce(
      name, axes, reduce_axes, ir::BinaryOp::Add,
      ir::cast(sum, builder.read(bordered, from)) * ir::cast(sum, builder.read(weight, factor)),
      stored);
}

Result<ConvShape> shape_of(std::string_view op, const Arguments& arguments, size_t rank) {
  auto window = TRY(window_of(op, arguments, rank));
  return ConvShape{.n = arguments.integer("n"),
                   .window = std::move(window),
                   .ci = arguments.integer("ci"),
                   .co = arguments.integer("co"),
                   .groups = arguments.integer("groups"),
                   .element = arguments.scalar("dtype"),
                   .weight_element = arguments.scalar("dtype_w")};
}

std::vector<Parameter> shape_parameters(size_t rank) {
  return joined(
      {input_parameters(rank),
       channel_parameters(),
       kernel_parameters(rank),
       step_parameters(),
       {{.name = "groups", .doc = "groups of channels", .fallback = "1"},
        dtype_parameter(),
        second_dtype_parameter("dtype_w", "type of the elements of W; by default dtype")}});
}

template <size_t Rank>
Result<std::shared_ptr<const Dag>> build_conv(const Arguments& arguments) {
  const auto shape = TRY(shape_of(fmt::format("conv{}d", Rank), arguments, Rank));
  return conv(shape);
}

template <size_t Rank>
Operator conv_operator(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .parameters = shape_parameters(Rank),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = build_conv<Rank>};
}

}  // namespace

Result<std::shared_ptr<const Dag>> conv(const ConvShape& shape) {
  TRY(check(shape));
  DagBuilder builder;
  add_conv(builder, "Y", shape, result_of(shape.element));
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> conv_bias_bn_relu(const ConvShape& shape) {
  TRY(check(shape));
  if (!ir::is_float(shape.element)) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}_bias_bn_relu: dtype {} is not supported; types are f16, bf16, f32, "
                            "f64",
                            name_of_rank(shape), ir::name_of(shape.element)));
  }
  DagBuilder builder;
  const ir::Scalar arithmetic = ir::arithmetic_type(shape.element);
  const TensorId sums = add_conv(builder, "C", shape, arithmetic);
  const TensorId bias = builder.placeholder("bias", {shape.co}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.co}, shape.element);
  const TensorId shift = builder.placeholder("shift", {shape.co}, shape.element);
  const TensorId biased = add_per_channel(builder, "T1", sums, bias, ir::BinaryOp::Add, shape);
  const TensorId scaled = add_per_channel(builder, "T2", biased, scale, ir::BinaryOp::Mul, shape);
  const TensorId shifted = add_per_channel(builder, "T3", scaled, shift, ir::BinaryOp::Add, shape);
  const std::vector<Axis> axes = axes_of_output(builder, shape);
  builder.compute("Y", axes,
                  ir::max(builder.read(shifted, vars_of(axes)), ir::imm(0, {arithmetic, 1})),
                  shape.element);
  return std::move(builder).build();
}

Operator conv1d_operator() {
  return conv_operator<1>("conv1d",
                          "X[n,l,ci] W[k,ci/groups,co] -> Y[n,lo,co]; W is constant by default");
}

Operator conv2d_operator() {
  return conv_operator<2>(
      "conv2d", "X[n,h,w,ci] W[kh,kw,ci/groups,co] -> Y[n,ho,wo,co]; W is constant by default");
}

Operator conv3d_operator() {
  return conv_operator<3>(
      "conv3d",
      "X[n,d,h,w,ci] W[kd,kh,kw,ci/groups,co] -> Y[n,do,ho,wo,co]; W is constant by default");
}

Operator conv2d_bias_bn_relu_operator() {
  return {.name = "conv2d_bias_bn_relu",
          .doc = "relu((conv2d + bias[co]) * scale[co] + shift[co]); all but X constant by default",
          .parameters = shape_parameters(2),
          .operands = {{.name = "W", .alias = "weight", .constant = true},
                       {.name = "bias", .alias = "", .constant = true},
                       {.name = "scale", .alias = "", .constant = true},
                       {.name = "shift", .alias = "", .constant = true}},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("conv2d_bias_bn_relu", arguments, 2));
            return conv_bias_bn_relu(shape);
          }};
}

}  // namespace tilewright::te
