#include "te/ops/norm.h"

#include <fmt/format.h>

namespace tilewright::te {
namespace {

ir::Expr square_root(const ir::Expr& x) { return ir::call(ir::Intrinsic::Sqrt, {x}); }

// `R[i]` = 1 / sqrt(squares[i] / n + eps).
TensorId add_reciprocal(DagBuilder& builder, TensorId squares, const RowNorm& shape) {
  const Axis i = builder.axis("i", shape.m);
  const ir::Expr sum = builder.read(squares, {i.var});
  const ir::Type type = sum.type();
  const ir::Expr mean = sum / ir::imm(static_cast<double>(shape.n), type);
  const TensorId reciprocal =
      builder.compute("R", {i}, ir::imm(1, type) / square_root(mean + ir::imm(shape.eps, type)));
  builder.set_flop(reciprocal, 0);
  return reciprocal;
}

// `A[i]`, the mean of a row.
TensorId add_mean(DagBuilder& builder, TensorId x, const RowNorm& shape) {
  const Axis i = builder.axis("i", shape.m);
  const Axis k = builder.axis("k", shape.n);
  const ir::Expr value = builder.read(x, {i.var, k.var});
  const TensorId sum = builder.reduce("S", {i}, {k}, ir::BinaryOp::Add, value, value.type().scalar);
  const Axis row = builder.axis("i", shape.m);
  const TensorId mean = builder.compute(
      "A", {row},
      builder.read(sum, {row.var}) / ir::imm(static_cast<double>(shape.n), value.type()));
  builder.set_flop(mean, 0);
  return mean;
}

// `V[i]`, the sum of squared differences from the mean.
TensorId add_variation(DagBuilder& builder, TensorId x, TensorId mean, const RowNorm& shape) {
  const Axis i = builder.axis("i", shape.m);
  const Axis k = builder.axis("k", shape.n);
  const ir::Expr difference = builder.read(x, {i.var, k.var}) - builder.read(mean, {i.var});
  const TensorId variation = builder.reduce("V", {i}, {k}, ir::BinaryOp::Add,
                                            difference * difference, difference.type().scalar);
  // The difference stands twice in the square and is computed once.
  builder.set_flop(variation, 3.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n));
  return variation;
}

Result<RowNorm> row_norm_of(std::string_view op, const Arguments& arguments) {
  const RowNorm shape{.m = arguments.integer("m"),
                      .n = arguments.integer("n"),
                      .eps = arguments.number("eps"),
                      .element = arguments.scalar("dtype")};
  if (const Status real = require_float(op, shape.element); !real) {
    return std::unexpected(real.error());
  }
  if (shape.eps < 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: eps={} is negative; legal are 0 and more", op, shape.eps));
  }
  return shape;
}

std::vector<Parameter> row_norm_parameters() {
  return {{.name = "m", .doc = "rows"},
          {.name = "n", .doc = "columns"},
          {.name = "eps",
           .doc = "what is added to the mean of squares",
           .fallback = "1e-5",
           .kind = ParameterKind::Number},
          dtype_parameter()};
}

}  // namespace

std::shared_ptr<const Dag> norm(int64_t b, int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {b, m, n}, element);
  const Axis each = builder.axis("b", b);
  const Axis i = builder.axis("i", m);
  const Axis j = builder.axis("j", n);
  const ir::Expr value = builder.read(x, {each.var, i.var, j.var});
  const TensorId squares =
      builder.reduce("S", {each}, {i, j}, ir::BinaryOp::Add, value * value, value.type().scalar);
  const Axis one = builder.axis("b", b);
  const TensorId root =
      builder.compute("Y", {one}, square_root(builder.read(squares, {one.var})), element);
  builder.set_flop(root, 0);
  return std::move(builder).build();
}

std::shared_ptr<const Dag> layer_norm(const RowNorm& shape) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {shape.m, shape.n}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.n}, shape.element);
  const TensorId shift = builder.placeholder("shift", {shape.n}, shape.element);
  const TensorId mean = add_mean(builder, x, shape);
  const TensorId reciprocal =
      add_reciprocal(builder, add_variation(builder, x, mean, shape), shape);
  const Axis i = builder.axis("i", shape.m);
  const Axis j = builder.axis("j", shape.n);
  const ir::Expr difference = builder.read(x, {i.var, j.var}) - builder.read(mean, {i.var});
  builder.compute("Y", {i, j},
                  difference * builder.read(reciprocal, {i.var}) * builder.read(scale, {j.var}) +
                      builder.read(shift, {j.var}),
                  shape.element);
  return std::move(builder).build();
}

std::shared_ptr<const Dag> rms_norm(const RowNorm& shape) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {shape.m, shape.n}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.n}, shape.element);
  const Axis row = builder.axis("i", shape.m);
  const Axis k = builder.axis("k", shape.n);
  const ir::Expr value = builder.read(x, {row.var, k.var});
  const TensorId squares =
      builder.reduce("S", {row}, {k}, ir::BinaryOp::Add, value * value, value.type().scalar);
  const TensorId reciprocal = add_reciprocal(builder, squares, shape);
  const Axis i = builder.axis("i", shape.m);
  const Axis j = builder.axis("j", shape.n);
  builder.compute("Y", {i, j},
                  builder.read(x, {i.var, j.var}) * builder.read(reciprocal, {i.var}) *
                      builder.read(scale, {j.var}),
                  shape.element);
  return std::move(builder).build();
}

Operator norm_operator() {
  return {.name = "norm",
          .doc = "X[b,m,n] -> Y[b] = sqrt(sum of squares over m and n)",
          .parameters = {{.name = "b", .doc = "batch", .fallback = "1"},
                         {.name = "m", .doc = "rows"},
                         {.name = "n", .doc = "columns"},
                         dtype_parameter()},
          .operands = {},
          .batch = "b",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const ir::Scalar element = arguments.scalar("dtype");
            if (const Status real = require_float("norm", element); !real) {
              return std::unexpected(real.error());
            }
            return norm(arguments.integer("b"), arguments.integer("m"), arguments.integer("n"),
                        element);
          }};
}

Operator layer_norm_operator() {
  return {.name = "layer_norm",
          .doc =
              "X[m,n] scale[n] shift[n] -> Y[m,n] = (X - mean) / sqrt(variance + eps) * scale + "
              "shift by rows; scale and shift constant by default",
          .parameters = row_norm_parameters(),
          .operands = {{.name = "scale", .alias = "", .constant = true},
                       {.name = "shift", .alias = "", .constant = true}},
          .batch = "m",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = row_norm_of("layer_norm", arguments);
            if (!shape) return std::unexpected(shape.error());
            return layer_norm(*shape);
          }};
}

Operator rms_norm_operator() {
  return {.name = "rms_norm",
          .doc =
              "X[m,n] scale[n] -> Y[m,n] = X / sqrt(mean of squares + eps) * scale by rows; "
              "scale constant by default",
          .parameters = row_norm_parameters(),
          .operands = {{.name = "scale", .alias = "", .constant = true}},
          .batch = "m",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = row_norm_of("rms_norm", arguments);
            if (!shape) return std::unexpected(shape.error());
            return rms_norm(*shape);
          }};
}

}  // namespace tilewright::te
