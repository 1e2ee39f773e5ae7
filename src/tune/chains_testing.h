// For tests: products followed by elementwise operators, named like the kernels of models.
#pragma once

#include <string>

#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::tune {

// A task of `n0_Y = A * B`, then `n1_Y = n0_Y + X1` to `n<adds>_Y`, each with another input.
inline Task product_and_adds(int adds, int64_t rows, std::string_view target) {
  te::DagBuilder builder;
  const int64_t columns = 96, depth = 64;
  const te::TensorId a = builder.placeholder("n0_A", {rows, depth}, ir::Scalar::F32);
  const te::TensorId b = builder.placeholder("n0_B", {depth, columns}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", rows), j = builder.axis("j", columns);
  const te::Axis k = builder.axis("k", depth);
  te::TensorId last = builder.reduce("n0_Y", {i, j}, {k}, ir::BinaryOp::Add,
                                     ir::binary(ir::BinaryOp::Mul, builder.read(a, {i.var, k.var}),
                                                builder.read(b, {k.var, j.var})),
                                     ir::Scalar::F32);
  for (int add = 1; add <= adds; ++add) {
    const std::string name = "n" + std::to_string(add);
    const te::TensorId x = builder.placeholder(name + "_X1", {rows, columns}, ir::Scalar::F32);
    const te::Axis row = builder.axis("i", rows), column = builder.axis("j", columns);
    last = builder.compute(name + "_Y", {row, column},
                           ir::binary(ir::BinaryOp::Add, builder.read(last, {row.var, column.var}),
                                      builder.read(x, {row.var, column.var})));
  }
  return {.workload = dag_workload(std::move(builder).build(), {}, {}),
          .target = parse_target(target).value()};
}

}  // namespace tilewright::tune
