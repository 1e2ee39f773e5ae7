#include "te/ops/norm.h"

#include <fmt/format.h>

namespace tilewright::te {
namespace {

ir::Expr square_root(const ir::Expr& x) { return ir::call(ir::Intrinsic::Sqrt, {x}); }

// `R` = 1 / sqrt(squares / columns + epsilon).
TensorId add_reciprocals(DagBuilder& builder, TensorId squares, const Rows& rows, double epsilon) {
  return rows.each_row("R", [&](const Indices& row) {
    const ir::Expr sum = builder.read(squares, row);
    const ir::Type type = sum.type();
    const ir::Expr mean = sum / ir::imm(rows.columns(), type);
    return ir::imm(1, type) / square_root(mean + ir::imm(epsilon, type));
  });
}

Rows matrix_rows(DagBuilder& builder, const RowNorm& shape) {
  return rows_with_columns(builder, {{.name = "i", .extent = shape.m}}, shape.n);
}

Result<RowNorm> row_norm_of(std::string_view op, const Arguments& arguments) {
  const RowNorm shape{.m = arguments.integer("m"),
                      .n = arguments.integer("n"),
                      .eps = arguments.number("eps"),
                      .element = arguments.scalar("dtype")};
  TRY(require_float(op, shape.element));
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
           .doc = "added to the mean of squares",
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

TensorId add_layer_norm(DagBuilder& builder, TensorId x, const Rows& rows, double epsilon,
                        ir::Scalar element, const Affine& affine) {
  const TensorId sums = rows.reduce("S", ir::BinaryOp::Add, [&](const Indices&, const Indices& at) {
    return builder.read(x, at);
  });
  const TensorId means = rows.each_row("A", [&](const Indices& row) {
    const ir::Expr sum = builder.read(sums, row);
    return sum / ir::imm(rows.columns(), sum.type());
  });
  const auto difference = [&](const Indices& row, const Indices& at) {
    return builder.read(x, at) - builder.read(means, row);
  };
  const TensorId variation =
      rows.reduce("V", ir::BinaryOp::Add, [&](const Indices& row, const Indices& at) {
        const ir::Expr away = difference(row, at);
        return away * away;
      });
  // The difference occurs twice in the square and is computed once.
  builder.set_flop(variation, 3.0 * rows.elements());
  const TensorId reciprocals = add_reciprocals(builder, variation, rows, epsilon);
  return rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return affine(difference(row, at) * builder.read(reciprocals, row), at);
      },
      element);
}

TensorId add_rms_norm(DagBuilder& builder, TensorId x, const Rows& rows, double epsilon,
                      ir::Scalar element, const Affine& affine) {
  const TensorId squares =
      rows.reduce("S", ir::BinaryOp::Add, [&](const Indices&, const Indices& at) {
        const ir::Expr value = builder.read(x, at);
        return value * value;
      });
  const TensorId reciprocals = add_reciprocals(builder, squares, rows, epsilon);
  return rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return affine(builder.read(x, at) * builder.read(reciprocals, row), at);
      },
      element);
}

std::shared_ptr<const Dag> layer_norm(const RowNorm& shape) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {shape.m, shape.n}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.n}, shape.element);
  const TensorId shift = builder.placeholder("shift", {shape.n}, shape.element);
  add_layer_norm(builder, x, matrix_rows(builder, shape), shape.eps, shape.element,
                 [&](const ir::Expr& normalized, const Indices& at) {
                   return normalized * builder.read(scale, {at[1]}) + builder.read(shift, {at[1]});
                 });
  return std::move(builder).build();
}

std::shared_ptr<const Dag> rms_norm(const RowNorm& shape) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {shape.m, shape.n}, shape.element);
  const TensorId scale = builder.placeholder("scale", {shape.n}, shape.element);
  add_rms_norm(builder, x, matrix_rows(builder, shape), shape.eps, shape.element,
               [&](const ir::Expr& normalized, const Indices& at) {
                 return normalized * builder.read(scale, {at[1]});
               });
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
            TRY(require_float("norm", element));
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
            const auto shape = TRY(row_norm_of("layer_norm", arguments));
            return layer_norm(shape);
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
            const auto shape = TRY(row_norm_of("rms_norm", arguments));
            return rms_norm(shape);
          }};
}

}  // namespace tilewright::te
