#include "te/ops/matmul.h"

namespace tilewright::te {
namespace {

std::vector<Parameter> size_parameters() {
  return {{.name = "m", .doc = "rows of A and C"},
          {.name = "n", .doc = "columns of B and C"},
          {.name = "k", .doc = "columns of A, rows of B"},
          dtype_parameter()};
}

Result<MatmulShape> shape_of(std::string_view op, const Arguments& arguments) {
  const ir::Scalar element = arguments.scalar("dtype");
  if (const Status number = require_number(op, element); !number) {
    return std::unexpected(number.error());
  }
  return MatmulShape{.m = arguments.integer("m"),
                     .n = arguments.integer("n"),
                     .k = arguments.integer("k"),
                     .element = element};
}

}  // namespace

std::shared_ptr<const Dag> matmul(const MatmulShape& shape) {
  DagBuilder builder;
  const TensorId a = builder.placeholder("A", {shape.m, shape.k}, shape.element);
  const TensorId b = builder.placeholder("B", {shape.k, shape.n}, shape.element);
  const Axis i = builder.axis("i", shape.m);
  const Axis j = builder.axis("j", shape.n);
  const Axis k = builder.axis("k", shape.k);
  const ir::Scalar sum = accumulator_of(shape.element);
  builder.reduce("C", {i, j}, {k}, ir::BinaryOp::Add,
                 ir::cast(sum, builder.read(a, {i.var, k.var})) *
                     ir::cast(sum, builder.read(b, {k.var, j.var})),
                 result_of(shape.element));
  return std::move(builder).build();
}

std::shared_ptr<const Dag> batch_matmul(int64_t batch, const MatmulShape& shape) {
  DagBuilder builder;
  const TensorId a = builder.placeholder("A", {batch, shape.m, shape.k}, shape.element);
  const TensorId b = builder.placeholder("B", {batch, shape.k, shape.n}, shape.element);
  const Axis each = builder.axis("b", batch);
  const Axis i = builder.axis("i", shape.m);
  const Axis j = builder.axis("j", shape.n);
  const Axis k = builder.axis("k", shape.k);
  const ir::Scalar sum = accumulator_of(shape.element);
  builder.reduce("C", {each, i, j}, {k}, ir::BinaryOp::Add,
                 ir::cast(sum, builder.read(a, {each.var, i.var, k.var})) *
                     ir::cast(sum, builder.read(b, {each.var, k.var, j.var})),
                 result_of(shape.element));
  return std::move(builder).build();
}

Operator matmul_operator() {
  return {.name = "matmul",
          .doc = "A[m,k] B[k,n] -> C[m,n]",
          .parameters = size_parameters(),
          .operands = {{.name = "B", .alias = "weight"}},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = shape_of("matmul", arguments);
            if (!shape) return std::unexpected(shape.error());
            return matmul(*shape);
          }};
}

Operator batch_matmul_operator() {
  std::vector<Parameter> parameters = size_parameters();
  parameters.insert(parameters.begin(), {.name = "b", .doc = "batch", .fallback = "1"});
  return {.name = "batch_matmul",
          .doc = "A[b,m,k] B[b,k,n] -> C[b,m,n]",
          .parameters = std::move(parameters),
          .operands = {{.name = "B", .alias = "weight"}},
          .batch = "b",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = shape_of("batch_matmul", arguments);
            if (!shape) return std::unexpected(shape.error());
            return batch_matmul(arguments.integer("b"), *shape);
          }};
}

}  // namespace tilewright::te
