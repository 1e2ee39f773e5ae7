#include "te/ops/matmul.h"

namespace tilewright::te {
namespace {

std::vector<Parameter> size_parameters() {
  return {{.name = "m", .doc = "rows of A and C"},
          {.name = "n", .doc = "columns of B and C"},
          {.name = "k", .doc = "columns of A, rows of B"},
          dtype_parameter(),
          second_dtype_parameter("dtype_b", "type of the elements of B; by default dtype"),
          flag_parameter("transpose_a", "1: A lies as [k,m]"),
          flag_parameter("transpose_b", "1: B lies as [n,k]")};
}

Result<MatmulShape> shape_of(std::string_view op, const Arguments& arguments) {
  const ir::Scalar element = arguments.scalar("dtype");
  const ir::Scalar element_b = arguments.scalar("dtype_b");
  if (const Status factors = require_factors(op, element, element_b); !factors) {
    return std::unexpected(factors.error());
  }
  return MatmulShape{.m = arguments.integer("m"),
                     .n = arguments.integer("n"),
                     .k = arguments.integer("k"),
                     .element = element,
                     .element_b = element_b,
                     .transpose_a = arguments.flag("transpose_a"),
                     .transpose_b = arguments.flag("transpose_b")};
}

// The product as stage `C`, once for each index of `batch` (no axis or one).
std::shared_ptr<const Dag> product(const MatmulShape& shape, std::span<const int64_t> batch) {
  DagBuilder builder;
  // `leading` with the two of a matrix behind them, in the order in which they lie.
  const auto with = [](const auto& leading, const auto& row, const auto& column, bool transposed) {
    std::vector all(leading.begin(), leading.end());
    all.push_back(transposed ? column : row);
    all.push_back(transposed ? row : column);
    return all;
  };
  const std::vector<Extent> outer(batch.begin(), batch.end());
  const Extent m = shape.m, n = shape.n, k = shape.k;
  const TensorId a = builder.placeholder("A", with(outer, m, k, shape.transpose_a), shape.element);
  const TensorId b = builder.placeholder("B", with(outer, k, n, shape.transpose_b),
                                         shape.element_b.value_or(shape.element));
  std::vector<Axis> axes;
  std::vector<ir::Expr> each;
  for (const Extent& extent : outer) {
    axes.push_back(builder.axis("b", extent));
    each.push_back(axes.back().var);
  }
  const Axis i = builder.axis("i", m);
  const Axis j = builder.axis("j", n);
  const Axis inner = builder.axis("k", k);
  axes.insert(axes.end(), {i, j});
  const ir::Scalar sum = accumulator_of(shape.element);
  const ir::Expr left = builder.read(a, with(each, i.var, inner.var, shape.transpose_a));
  const ir::Expr right = builder.read(b, with(each, inner.var, j.var, shape.transpose_b));
  builder.reduce("C", axes, {inner}, ir::BinaryOp::Add, ir::cast(sum, left) * ir::cast(sum, right),
                 result_of(shape.element));
  return std::move(builder).build();
}

}  // namespace

std::shared_ptr<const Dag> matmul(const MatmulShape& shape) { return product(shape, {}); }

std::shared_ptr<const Dag> batch_matmul(int64_t batch, const MatmulShape& shape) {
  return product(shape, {&batch, 1});
}

Operator matmul_operator() {
  return {.name = "matmul",
          .doc = "A[m,k] B[k,n] -> C[m,n]; transpose_a: A[k,m]; transpose_b: B[n,k]",
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
          .doc = "A[b,m,k] B[b,k,n] -> C[b,m,n]; transpose_a: A[b,k,m]; transpose_b: B[b,n,k]",
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
