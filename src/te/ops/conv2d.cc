#include "te/ops/conv2d.h"

#include <fmt/format.h>

namespace tilewright::te {
namespace {

int64_t output_extent(int64_t input, int64_t kernel, const Conv2dShape& shape) {
  const int64_t room = input + 2 * shape.pad - shape.dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / shape.stride + 1;
}

Status check(const Conv2dShape& shape) {
  if (const Status number = require_number("conv2d", shape.element); !number) return number;
  if (shape.ci % shape.groups != 0 || shape.co % shape.groups != 0) {
    return fail(ErrorKind::BadInput, fmt::format("conv2d: groups={} must divide ci={} and co={}",
                                                 shape.groups, shape.ci, shape.co));
  }
  if (output_extent(shape.h, shape.kh, shape) < 1 || output_extent(shape.w, shape.kw, shape) < 1) {
    return fail(ErrorKind::BadInput,
                fmt::format("conv2d: a {}x{} kernel with dilation={} does not fit into {}x{} with "
                            "pad={}",
                            shape.kh, shape.kw, shape.dilation, shape.h, shape.w, shape.pad));
  }
  return {};
}

// X within a border of zeros.
TensorId add_pad(DagBuilder& builder, TensorId x, const Conv2dShape& shape) {
  const int64_t pad = shape.pad;
  const Axis n = builder.axis("n", shape.n);
  const Axis row = builder.axis("y", shape.h + 2 * pad);
  const Axis column = builder.axis("x", shape.w + 2 * pad);
  const Axis c = builder.axis("c", shape.ci);
  const ir::Expr inside =
      row.var >= pad && row.var < shape.h + pad && column.var >= pad && column.var < shape.w + pad;
  const ir::Expr value = builder.read(x, {n.var, row.var - pad, column.var - pad, c.var});
  return builder.compute("P", {n, row, column, c},
                         ir::select(inside, value, ir::imm(0, value.type())), shape.element);
}

// `position * step`, without the product by one.
ir::Expr times(const ir::Expr& position, int64_t step) {
  return step == 1 ? position : position * step;
}

std::vector<Axis> output_axes(DagBuilder& builder, const Conv2dShape& shape) {
  return {builder.axis("n", shape.n), builder.axis("y", output_extent(shape.h, shape.kh, shape)),
          builder.axis("x", output_extent(shape.w, shape.kw, shape)), builder.axis("c", shape.co)};
}

std::vector<ir::Expr> vars_of(const std::vector<Axis>& axes) {
  std::vector<ir::Expr> vars;
  vars.reserve(axes.size());
  for (const Axis& axis : axes) vars.push_back(axis.var);
  return vars;
}

// Stage `name`: `tensor` of the output's shape, combined with one number a channel.
TensorId add_per_channel(DagBuilder& builder, std::string_view name, TensorId tensor,
                         TensorId channels, ir::BinaryOp op, const Conv2dShape& shape) {
  const std::vector<Axis> axes = output_axes(builder, shape);
  return builder.compute(
      name, axes,
      ir::binary(op, builder.read(tensor, vars_of(axes)), builder.read(channels, {axes[3].var})));
}

// The convolution as stage `name`, with its placeholders and border; stored as `stored`.
TensorId add_conv2d(DagBuilder& builder, std::string_view name, const Conv2dShape& shape,
                    ir::Scalar stored) {
  const int64_t group_in = shape.ci / shape.groups;
  const int64_t group_out = shape.co / shape.groups;
  TensorId x = builder.placeholder("X", {shape.n, shape.h, shape.w, shape.ci}, shape.element);
  const TensorId weight =
      builder.placeholder("W", {shape.kh, shape.kw, group_in, shape.co}, shape.element);
  if (shape.pad > 0) x = add_pad(builder, x, shape);

  const std::vector<Axis> axes = output_axes(builder, shape);
  const Axis &n = axes[0], &row = axes[1], &column = axes[2], &c = axes[3];
  const Axis ry = builder.axis("ry", shape.kh);
  const Axis rx = builder.axis("rx", shape.kw);
  const Axis rc = builder.axis("rc", group_in);
  const ir::Expr channel = shape.groups == 1 ? rc.var : times(c.var / group_out, group_in) + rc.var;
  const ir::Scalar sum = accumulator_of(shape.element);
  const ir::Expr input =
      builder.read(x, {n.var, times(row.var, shape.stride) + times(ry.var, shape.dilation),
                       times(column.var, shape.stride) + times(rx.var, shape.dilation), channel});
  const ir::Expr factor = builder.read(weight, {ry.var, rx.var, rc.var, c.var});
  return builder.reduce(name, axes, {ry, rx, rc}, ir::BinaryOp::Add,
                        ir::cast(sum, input) * ir::cast(sum, factor), stored);
}

std::vector<Parameter> shape_parameters() {
  return {
      {.name = "n", .doc = "batch", .fallback = "1"},
      {.name = "h", .doc = "height of the input"},
      {.name = "w", .doc = "width of the input"},
      {.name = "ci", .doc = "input channels"},
      {.name = "co", .doc = "output channels"},
      {.name = "kernel",
       .doc = "height and width of the kernel",
       .fallback = "0",
       .low = 0,
       .quiet = true},
      {.name = "kh",
       .doc = "height of the kernel, without kernel",
       .fallback = "0",
       .low = 0,
       .quiet = true},
      {.name = "kw",
       .doc = "width of the kernel, without kernel",
       .fallback = "0",
       .low = 0,
       .quiet = true},
      {.name = "stride", .doc = "step of the output", .fallback = "1"},
      {.name = "pad", .doc = "zeros on each side", .fallback = "0", .low = 0},
      {.name = "dilation", .doc = "step inside the kernel", .fallback = "1"},
      {.name = "groups", .doc = "groups of channels", .fallback = "1"},
      dtype_parameter(),
  };
}

Result<Conv2dShape> shape_of(std::string_view op, const Arguments& arguments) {
  const int64_t kernel = arguments.integer("kernel");
  const int64_t kh = arguments.integer("kh");
  const int64_t kw = arguments.integer("kw");
  const bool square = kernel > 0 && kh == 0 && kw == 0;
  const bool oblong = kernel == 0 && kh > 0 && kw > 0;
  if (kernel > 0 && !square) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: kernel and kh, kw exclude each other; kernel={} is kh={},kw={}",
                            op, kernel, kernel, kernel));
  }
  if (!square && !oblong) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} needs parameter kernel, or both kh and kw instead of it", op));
  }
  return Conv2dShape{.n = arguments.integer("n"),
                     .h = arguments.integer("h"),
                     .w = arguments.integer("w"),
                     .ci = arguments.integer("ci"),
                     .co = arguments.integer("co"),
                     .kh = square ? kernel : kh,
                     .kw = square ? kernel : kw,
                     .stride = arguments.integer("stride"),
                     .pad = arguments.integer("pad"),
                     .dilation = arguments.integer("dilation"),
                     .groups = arguments.integer("groups"),
                     .element = arguments.scalar("dtype")};
}

}  // namespace

Result<std::shared_ptr<const Dag>> conv2d(const Conv2dShape& shape) {
  if (const Status legal = check(shape); !legal) return std::unexpected(legal.error());
  DagBuilder builder;
  add_conv2d(builder, "Y", shape, result_of(shape.element));
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> conv2d_bias_bn_relu(const Conv2dShape& shape) {
  if (const Status legal = check(shape); !legal) return std::unexpected(legal.error());
  if (!ir::is_float(shape.element)) {
    return fail(ErrorKind::Unsupported,
                fmt::format("conv2d_bias_bn_relu: dtype {} is not supported; types are f16, bf16, "
                            "f32, f64",
                            ir::name_of(shape.element)));
  }
  DagBuilder builder;
  const ir::Scalar arithmetic = ir::arithmetic_type(shape.element);
  const TensorId sums = add_conv2d(builder, "C", shape, arithmetic);
  const TensorId bias = builder.placeholder("bias", {shape.co}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.co}, shape.element);
  const TensorId shift = builder.placeholder("shift", {shape.co}, shape.element);
  const TensorId biased = add_per_channel(builder, "T1", sums, bias, ir::BinaryOp::Add, shape);
  const TensorId scaled = add_per_channel(builder, "T2", biased, scale, ir::BinaryOp::Mul, shape);
  const TensorId shifted = add_per_channel(builder, "T3", scaled, shift, ir::BinaryOp::Add, shape);
  const std::vector<Axis> axes = output_axes(builder, shape);
  builder.compute("Y", axes,
                  ir::max(builder.read(shifted, vars_of(axes)), ir::imm(0, {arithmetic, 1})),
                  shape.element);
  return std::move(builder).build();
}

Operator conv2d_operator() {
  return {.name = "conv2d",
          .doc = "X[n,h,w,ci] W[kh,kw,ci/groups,co] -> Y[n,ho,wo,co]; W is constant by default",
          .parameters = shape_parameters(),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = shape_of("conv2d", arguments);
            if (!shape) return std::unexpected(shape.error());
            return conv2d(*shape);
          }};
}

Operator conv2d_bias_bn_relu_operator() {
  return {.name = "conv2d_bias_bn_relu",
          .doc = "relu((conv2d + bias[co]) * scale[co] + shift[co]); all but X constant by default",
          .parameters = shape_parameters(),
          .operands = {{.name = "W", .alias = "weight", .constant = true},
                       {.name = "bias", .alias = "", .constant = true},
                       {.name = "scale", .alias = "", .constant = true},
                       {.name = "shift", .alias = "", .constant = true}},
          .batch = "n",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = shape_of("conv2d_bias_bn_relu", arguments);
            if (!shape) return std::unexpected(shape.error());
            return conv2d_bias_bn_relu(*shape);
          }};
}

}  // namespace tilewright::te
