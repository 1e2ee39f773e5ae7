#include "tests/e2e/unseen_operators.h"

#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::unseen {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;
using te::Axis;
using te::DagBuilder;
using te::TensorId;

constexpr auto kF32 = Scalar::F32;

Expr number(double value) { return ir::imm(value, ir::kF32); }

// C[i, j] = sum over k of A[i, k] * B[k, j]
TensorId matmul(DagBuilder& dag, const std::string& name, TensorId a, TensorId b, int64_t m,
                int64_t n, int64_t k) {
  const Axis i = dag.axis("i", m), j = dag.axis("j", n), r = dag.axis("k", k);
  const Expr product = dag.read(a, {i.var, r.var}) * dag.read(b, {r.var, j.var});
  return dag.reduce(name, {i, j}, {r}, BinaryOp::Add, product, kF32);
}

// relu(A B) and (x + 1) / 2 between three matrix products.
Workload chain_of_matmuls() {
  DagBuilder dag;
  const TensorId a = dag.placeholder("A", {192, 160}, kF32);
  const TensorId b = dag.placeholder("B", {160, 224}, kF32);
  const TensorId c = dag.placeholder("C", {224, 128}, kF32);
  const TensorId d = dag.placeholder("D", {128, 96}, kF32);
  const auto each = [&](const std::string& name, TensorId from, int64_t m, int64_t n, auto value) {
    const Axis i = dag.axis("i", m), j = dag.axis("j", n);
    return dag.compute(name, {i, j}, value(dag.read(from, {i.var, j.var})));
  };
  const TensorId first = matmul(dag, "M1", a, b, 192, 224, 160);
  const TensorId relu =
      each("R1", first, 192, 224, [](const Expr& x) { return ir::max(x, number(0)); });
  const TensorId second = matmul(dag, "M2", relu, c, 192, 128, 224);
  const TensorId half =
      each("R2", second, 192, 128, [](const Expr& x) { return (x + number(1)) * number(0.5); });
  matmul(dag, "M3", half, d, 192, 96, 128);
  return dag_workload(std::move(dag).build(), {"B", "D"});
}

// Y[a, b, c, d, e] = sum over p, q of L[a, p, b, q, e] * R[q, c, p, d]
Workload contraction_of_five() {
  DagBuilder dag;
  const TensorId l = dag.placeholder("L", {6, 10, 8, 12, 16}, kF32);
  const TensorId r = dag.placeholder("R", {12, 9, 10, 14}, kF32);
  const Axis a = dag.axis("a", 6), b = dag.axis("b", 8), c = dag.axis("c", 9),
             d = dag.axis("d", 14), e = dag.axis("e", 16);
  const Axis p = dag.axis("p", 10), q = dag.axis("q", 12);
  const Expr product =
      dag.read(l, {a.var, p.var, b.var, q.var, e.var}) * dag.read(r, {q.var, c.var, p.var, d.var});
  dag.reduce("Y", {a, b, c, d, e}, {p, q}, BinaryOp::Add, product, kF32);
  return dag_workload(std::move(dag).build(), {});
}

// Depthwise 7 x 7 with holes of 3, zeros around the image.
Workload dilated_depthwise() {
  constexpr int64_t kSize = 40, kChannels = 48, kWindow = 7, kDilation = 3, kPad = 9;
  DagBuilder dag;
  const TensorId x = dag.placeholder("X", {kSize, kSize, kChannels}, kF32);
  const TensorId w = dag.placeholder("W", {kWindow, kWindow, kChannels}, kF32);
  const Axis py = dag.axis("y", kSize + 2 * kPad), px = dag.axis("x", kSize + 2 * kPad),
             pc = dag.axis("c", kChannels);
  const Expr row = py.var - kPad, column = px.var - kPad;
  const Expr inside = (row >= 0) && (row < kSize) && (column >= 0) && (column < kSize);
  const TensorId padded = dag.compute(
      "P", {py, px, pc}, ir::select(inside, dag.read(x, {row, column, pc.var}), number(0)));
  const Axis oy = dag.axis("y", kSize), ox = dag.axis("x", kSize), oc = dag.axis("c", kChannels);
  const Axis ry = dag.axis("ry", kWindow), rx = dag.axis("rx", kWindow);
  const Expr product =
      dag.read(padded, {oy.var + ry.var * kDilation, ox.var + rx.var * kDilation, oc.var}) *
      dag.read(w, {ry.var, rx.var, oc.var});
  dag.reduce("Y", {oy, ox, oc}, {ry, rx}, BinaryOp::Add, product, kF32);
  return dag_workload(std::move(dag).build(), {"W"});
}

// The largest of the middle axis, less the mean of it.
Workload middle_reduction() {
  constexpr int64_t kOuter = 24, kMiddle = 500, kInner = 96;
  DagBuilder dag;
  const TensorId x = dag.placeholder("X", {kOuter, kMiddle, kInner}, kF32);
  const auto fold = [&](const std::string& name, BinaryOp op) {
    const Axis i = dag.axis("i", kOuter), j = dag.axis("j", kInner), k = dag.axis("k", kMiddle);
    return dag.reduce(name, {i, j}, {k}, op, dag.read(x, {i.var, k.var, j.var}), kF32);
  };
  const TensorId largest = fold("M", BinaryOp::Max), sum = fold("S", BinaryOp::Add);
  const Axis i = dag.axis("i", kOuter), j = dag.axis("j", kInner);
  dag.compute(
      "Y", {i, j},
      dag.read(largest, {i.var, j.var}) - dag.read(sum, {i.var, j.var}) * number(1.0 / kMiddle));
  return dag_workload(std::move(dag).build(), {});
}

// A batched product plus bias whose extents are all prime.
Workload primes() {
  constexpr int64_t kBatch = 7, kM = 61, kN = 83, kK = 97;
  DagBuilder dag;
  const TensorId a = dag.placeholder("A", {kBatch, kM, kK}, kF32);
  const TensorId b = dag.placeholder("B", {kBatch, kK, kN}, kF32);
  const TensorId bias = dag.placeholder("Z", {kN}, kF32);
  const Axis n = dag.axis("n", kBatch), i = dag.axis("i", kM), j = dag.axis("j", kN),
             k = dag.axis("k", kK);
  const TensorId c =
      dag.reduce("C", {n, i, j}, {k}, BinaryOp::Add,
                 dag.read(a, {n.var, i.var, k.var}) * dag.read(b, {n.var, k.var, j.var}), kF32);
  const Axis on = dag.axis("n", kBatch), oi = dag.axis("i", kM), oj = dag.axis("j", kN);
  dag.compute("Y", {on, oi, oj}, dag.read(c, {on.var, oi.var, oj.var}) + dag.read(bias, {oj.var}));
  return dag_workload(std::move(dag).build(), {});
}

}  // namespace

std::vector<UnseenOperator> unseen_operators() {
  return {{.name = "chain_of_matmuls", .workload = chain_of_matmuls()},
          {.name = "contraction_5d", .workload = contraction_of_five()},
          {.name = "depthwise_7x7_dilated", .workload = dilated_depthwise()},
          {.name = "middle_reduction", .workload = middle_reduction()},
          {.name = "primes", .workload = primes()}};
}

}  // namespace tilewright::unseen
