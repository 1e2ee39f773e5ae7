#include "te/ops/softmax.h"

#include <fmt/format.h>

namespace tilewright::te {
namespace {

// The row reduction of `tensor` as stage `name`: axis i, reduce k.
TensorId add_row_reduce(DagBuilder& builder, std::string_view name, TensorId tensor, int64_t m,
                        int64_t n, ir::BinaryOp op) {
  const Axis i = builder.axis("i", m);
  const Axis k = builder.axis("k", n);
  const ir::Expr value = builder.read(tensor, {i.var, k.var});
  return builder.reduce(name, {i}, {k}, op, value, value.type().scalar);
}

}  // namespace

std::shared_ptr<const Dag> softmax(int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {m, n}, element);
  const TensorId largest = add_row_reduce(builder, "M", x, m, n, ir::BinaryOp::Max);
  const Axis i = builder.axis("i", m);
  const Axis j = builder.axis("j", n);
  const TensorId powers = builder.compute(
      "E", {i, j}, ir::exp(builder.read(x, {i.var, j.var}) - builder.read(largest, {i.var})));
  const TensorId sums = add_row_reduce(builder, "S", powers, m, n, ir::BinaryOp::Add);
  // One division a row. It does not count: the suite's flop has one operation an element for it.
  const Axis r = builder.axis("i", m);
  const ir::Expr sum = builder.read(sums, {r.var});
  const TensorId reciprocals = builder.compute("R", {r}, ir::imm(1, sum.type()) / sum);
  builder.set_flop(reciprocals, 0);
  const Axis row = builder.axis("i", m);
  const Axis column = builder.axis("j", n);
  builder.compute(
      "Y", {row, column},
      builder.read(powers, {row.var, column.var}) * builder.read(reciprocals, {row.var}), element);
  return std::move(builder).build();
}

Operator softmax_operator() {
  return {.name = "softmax",
          .doc = "X[m,n] -> Y[m,n] over the last axis, maximum subtracted",
          .parameters = {{.name = "m", .doc = "rows"},
                         {.name = "n", .doc = "columns"},
                         dtype_parameter()},
          .operands = {},
          .batch = "m",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const ir::Scalar element = arguments.scalar("dtype");
            if (!ir::is_float(element)) {
              return fail(ErrorKind::Unsupported,
                          fmt::format("softmax: dtype {} is not supported; types are f16, bf16, "
                                      "f32, f64",
                                      ir::name_of(element)));
            }
            return softmax(arguments.integer("m"), arguments.integer("n"), element);
          }};
}

}  // namespace tilewright::te
