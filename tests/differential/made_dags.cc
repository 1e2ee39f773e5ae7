#include "made_dags.h"

#include <fmt/format.h>

#include <array>

#include "te/dag_builder.h"

namespace tilewright::testing {
namespace {

ir::Scalar one_of(Rng& rng, std::initializer_list<ir::Scalar> types) {
  return types.begin()[rng.below(types.size())];
}

// C[i, j] = sum over k of x[i, k] * y[k, j]
te::TensorId product(te::DagBuilder& builder, std::string_view name, te::TensorId x, te::TensorId y,
                     const std::array<int64_t, 3>& extents, ir::Scalar element) {
  const te::Axis i = builder.axis("i", extents[0]);
  const te::Axis j = builder.axis("j", extents[1]);
  const te::Axis k = builder.axis("k", extents[2]);
  return builder.reduce(name, {i, j}, {k}, ir::BinaryOp::Add,
                        builder.read(x, {i.var, k.var}) * builder.read(y, {k.var, j.var}), element);
}

// (value, place) of the larger value, and of equal ones of the earlier place.
te::Reduction larger_first() {
  const ir::Expr value = ir::var("value", ir::kF32), place = ir::var("place");
  const ir::Expr other = ir::var("other", ir::kF32), other_place = ir::var("other_place");
  const ir::Expr earlier = ir::binary(ir::BinaryOp::Eq, value, other) && place < other_place;
  const ir::Expr first = ir::binary(ir::BinaryOp::Gt, value, other) || earlier;
  return {.identity = {ir::float_imm(-1e30, ir::kF32), ir::int_imm(1 << 20)},
          .lhs = {value, place},
          .rhs = {other, other_place},
          .combine = {ir::select(first, value, other), ir::select(first, place, other_place)},
          .commutative = true};
}

}  // namespace

Workload argmax_read_on(Rng& rng) {
  const int64_t rows = rng.between(1, 9), columns = rng.between(1, 40);
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {rows, columns}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", rows);
  const te::Axis k = builder.axis("k", columns);
  const auto largest =
      builder.reduce_tuple("T", {i}, {k}, larger_first(), {builder.read(x, {i.var, k.var}), k.var},
                           {ir::Scalar::F32, ir::Scalar::I32});
  const te::Axis r = builder.axis("i", rows);
  builder.compute("Y", {r},
                  builder.read(largest[0], {r.var}) *
                      ir::cast(ir::Scalar::F32, builder.read(largest[1], {r.var})));
  return make_workload(std::move(builder).build(), {},
                       fmt::format("argmax of {} x {}, read on", rows, columns));
}

Workload chained_matmuls(Rng& rng) {
  const ir::Scalar element =
      one_of(rng, {ir::Scalar::F32, ir::Scalar::F16, ir::Scalar::BF16, ir::Scalar::F64});
  const int64_t m = rng.between(1, 9), n = rng.between(1, 12), k = rng.between(1, 9),
                p = rng.between(1, 20);
  te::DagBuilder builder;
  const te::TensorId a = builder.placeholder("A", {m, k}, element);
  const te::TensorId b = builder.placeholder("B", {k, n}, element);
  const te::TensorId w = builder.placeholder("W", {n, p}, element);
  const te::TensorId c = product(builder, "C", a, b, {m, n, k}, element);
  product(builder, "T", c, w, {m, p, n}, element);
  return make_workload(
      std::move(builder).build(), {"W"},
      fmt::format("A x B x W, {} x {} x {} x {} {}", m, k, n, p, name_of(element)));
}

Workload stencil(Rng& rng) {
  const int64_t n = rng.between(3, 40);
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {n + 2}, ir::Scalar::F32);
  const te::Axis t = builder.axis("i", n + 2);
  const te::TensorId twice =
      builder.compute("T", {t}, builder.read(x, {t.var}) + builder.read(x, {t.var}));
  const te::Axis i = builder.axis("i", n);
  builder.compute("Y", {i},
                  builder.read(twice, {i.var + 2}) + builder.read(x, {i.var}) -
                      builder.read(twice, {ir::int_imm(n) - i.var}));
  return make_workload(std::move(builder).build(), {}, fmt::format("stencil of {}", n));
}

// T[i, j] = X[m-1 - i, j] + 1;  Y[p, q] = T[q, n-1 - p] * 3
Workload flipped(Rng& rng) {
  const int64_t m = rng.between(1, 14), n = rng.between(1, 22);
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {m, n}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", m);
  const te::Axis j = builder.axis("j", n);
  const te::TensorId t = builder.compute(
      "T", {i, j}, builder.read(x, {ir::int_imm(m - 1) - i.var, j.var}) + ir::imm(1, ir::kF32));
  const te::Axis p = builder.axis("i", n);
  const te::Axis q = builder.axis("j", m);
  builder.compute("Y", {p, q},
                  builder.read(t, {q.var, ir::int_imm(n - 1) - p.var}) * ir::imm(3, ir::kF32));
  return make_workload(std::move(builder).build(), {}, fmt::format("flipped {} x {}", m, n));
}

// T = 2 X + 1;  S[i] = sum of T's row;  M[i] = its maximum;  Y[i, j] = (T[i, j] - M[i]) + S[i]
Workload shared_producer(Rng& rng) {
  const int64_t m = rng.between(1, 11), n = rng.between(1, 23);
  const ir::Scalar element =
      one_of(rng, {ir::Scalar::F32, ir::Scalar::I32, ir::Scalar::U32, ir::Scalar::F64});
  const ir::Type type{element, 1};
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {m, n}, element);
  const te::Axis i = builder.axis("i", m), j = builder.axis("j", n);
  const te::TensorId t = builder.compute(
      "T", {i, j}, builder.read(x, {i.var, j.var}) * ir::imm(2, type) + ir::imm(1, type));
  const auto fold = [&](std::string_view name, ir::BinaryOp op) {
    const te::Axis row = builder.axis("i", m), k = builder.axis("k", n);
    return builder.reduce(name, {row}, {k}, op, builder.read(t, {row.var, k.var}), element);
  };
  const te::TensorId sum = fold("S", ir::BinaryOp::Add);
  const te::TensorId largest = fold("M", ir::BinaryOp::Max);
  const te::Axis p = builder.axis("i", m), q = builder.axis("j", n);
  builder.compute("Y", {p, q},
                  builder.read(t, {p.var, q.var}) - builder.read(largest, {p.var}) +
                      builder.read(sum, {p.var}));
  return make_workload(std::move(builder).build(), {},
                       fmt::format("shared producer {} x {} {}", m, n, name_of(element)));
}

// T[i, j] = X[i, j] * 2;  Y[i, j] = T[i, n-1 - j] + 1
Workload long_rows(Rng& rng) {
  constexpr int64_t kStackFloats = 16 * 1024 / 4;
  const int64_t m = rng.between(2, 3), n = kStackFloats + rng.between(1, 60);
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {m, n}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", m), j = builder.axis("j", n);
  const te::TensorId t =
      builder.compute("T", {i, j}, builder.read(x, {i.var, j.var}) * ir::imm(2, ir::kF32));
  const te::Axis p = builder.axis("i", m), q = builder.axis("j", n);
  builder.compute("Y", {p, q},
                  builder.read(t, {p.var, ir::int_imm(n - 1) - q.var}) + ir::imm(1, ir::kF32));
  return make_workload(std::move(builder).build(), {}, fmt::format("long rows {} x {}", m, n));
}

}  // namespace tilewright::testing
