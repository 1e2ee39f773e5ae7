#include "te/ops/conv_capsule.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "conv2d_capsule";

Result<std::shared_ptr<const Dag>> build(const Arguments& arguments) {
  auto window = TRY(window_of(kName, arguments, 2));
  return conv2d_capsule({.n = arguments.integer("n"),
                         .window = std::move(window),
                         .ci = arguments.integer("ci"),
                         .co = arguments.integer("co"),
                         .side = arguments.integer("capsule"),
                         .element = arguments.scalar("dtype")});
}

}  // namespace

Result<std::shared_ptr<const Dag>> conv2d_capsule(const CapsuleShape& shape) {
  const Window& window = shape.window;
  const int64_t side = shape.side;
  TRY(require_number(kName, shape.element));
  TRY(require_fit(kName, window));

  DagBuilder builder;
  const TensorId x = builder.placeholder(
      "X", {shape.n, window.input[0], window.input[1], side, side, shape.ci}, shape.element);
  const TensorId weight = builder.placeholder(
      "W", {window.kernel[0], window.kernel[1], side, side, shape.ci, shape.co}, shape.element);
  const TensorId bordered = add_border(builder, x, shape.n, window,
                                       {{.axis = "i", .inside = side},
                                        {.axis = "j", .inside = side},
                                        {.axis = "c", .inside = shape.ci}},
                                       shape.element);
  const Axis n = builder.axis("n", shape.n);
  const std::vector<Axis> at = output_axes(builder, window);
  const Axis i = builder.axis("i", side);
  const Axis j = builder.axis("j", side);
  const Axis c = builder.axis("c", shape.co);
  const std::vector<Axis> taps = tap_axes(builder, window.kernel);
  const Axis rk = builder.axis("rk", side);
  const Axis rc = builder.axis("rc", shape.ci);
  const ir::Expr input =
      builder.read(bordered, {n.var, window.index(0, at[0].var, taps[0].var),
                              window.index(1, at[1].var, taps[1].var), i.var, rk.var, rc.var});
  const ir::Expr factor =
      builder.read(weight, {taps[0].var, taps[1].var, rk.var, j.var, rc.var, c.var});
  const ir::Scalar sum = accumulator_of(shape.element);
  builder.reduce("Y", {n, at[0], at[1], i, j, c}, {taps[0], taps[1], rk, rc}, ir::BinaryOp::Add,
                 ir::cast(sum, input) * ir::cast(sum, factor), result_of(shape.element));
  return std::move(builder).build();
}

Operator conv2d_capsule_operator() {
  return {.name = kName,
          .doc =
              "X[n,h,w,s,s,ci] W[kh,kw,s,s,ci,co] -> Y[n,ho,wo,s,s,co] with s = capsule; W is "
              "constant by default",
          .parameters = joined(
              {input_parameters(2),
               channel_parameters(),
               kernel_parameters(2),
               step_parameters(),
               {{.name = "capsule", .doc = "rows and columns of an element", .fallback = "4"},
                dtype_parameter()}}),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = build};
}

}  // namespace tilewright::te
