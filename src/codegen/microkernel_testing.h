// For tests: the loop IR of a matrix product with a register tile of accumulators, as `lower`
// generates it.
//
//   for i.0 < blocks:                         C[blocks * rows, columns * lanes]
//     acc = 0                                 A[blocks * rows, depth]
//     for k.0 < depth / unroll:               B[depth, columns * lanes]
//       `unroll` times: acc[i, j] = fma(A[i, k], B[k, j], acc[i, j])
//     C[i, j] = acc[i, j]
#pragma once

#include <string>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct Microkernel {
  int rows = 14;
  int columns = 2;  // in vectors
  int lanes = 16;
  int unroll = 4;
  int64_t depth = 256;
  int64_t blocks = 4;
  ir::ForKind outer = ir::ForKind::Serial;

  int64_t flop() const { return 2 * blocks * rows * columns * lanes * depth; }
};

inline ir::Function make_microkernel(const Microkernel& m) {
  using namespace ir;  // NOLINT(google-build-using-namespace)
  const int64_t width = int64_t{m.columns} * m.lanes;
  const auto lanes = static_cast<unsigned>(m.lanes);
  Function f{.name = "microkernel",
             .buffers = {{.name = "A", .element = kF32, .shape = {m.blocks * m.rows * m.depth}},
                         {.name = "B", .element = kF32, .shape = {m.depth * width}},
                         {.name = "C", .element = kF32, .shape = {m.blocks * m.rows * width}}},
             .arguments = {0, 1, 2},
             .argument_written = {false, false, true},
             .body = {}};
  const Type vector = kF32.with_lanes(lanes);
  const auto accumulator = [&](int i, int j) {
    return static_cast<BufferId>(3 + i * m.columns + j);
  };
  for (int k = 0; k < m.rows * m.columns; ++k) {
    f.buffers.push_back({.name = "acc" + std::to_string(k),
                         .element = vector,
                         .shape = {1},
                         .scope = Scope::Register});
  }
  const Expr zero = int_imm(0);
  const Expr block = var("i.0");
  const Expr outer_k = var("k.0");
  std::vector<Stmt> clear;
  std::vector<Stmt> steps;
  std::vector<Stmt> finish;
  for (int i = 0; i < m.rows; ++i) {
    for (int j = 0; j < m.columns; ++j) {
      const BufferId acc = accumulator(i, j);
      clear.push_back(make_store(acc, {zero}, float_imm(0, vector)));
      const Expr at = (block * m.rows + i) * width + int64_t{j} * m.lanes;
      finish.push_back(make_store(2, {ramp(at, 1, lanes)}, load(vector, acc, {zero})));
    }
  }
  for (int u = 0; u < m.unroll; ++u) {
    const Expr k = outer_k * m.unroll + u;
    std::vector<Expr> names;
    std::vector<Stmt> updates;
    names.reserve(static_cast<size_t>(m.columns));
    for (int j = 0; j < m.columns; ++j) names.push_back(var("b", vector));
    for (int i = 0; i < m.rows; ++i) {
      const Expr a = var("a", vector);
      std::vector<Stmt> row;
      for (int j = 0; j < m.columns; ++j) {
        const BufferId acc = accumulator(i, j);
        row.push_back(make_store(acc, {zero},
                                 fma(a, names[static_cast<size_t>(j)], load(vector, acc, {zero}))));
      }
      const Expr from = load(Scalar::F32, 0, {(block * m.rows + i) * m.depth + k});
      updates.push_back(make_let(a, broadcast(from, lanes), make_block(row)));
    }
    Stmt step = make_block(updates);
    for (int j = m.columns - 1; j >= 0; --j) {
      const Expr at = ramp(k * width + int64_t{j} * m.lanes, 1, lanes);
      step = make_let(names[static_cast<size_t>(j)], load(Scalar::F32, 1, {at}), step);
    }
    steps.push_back(step);
  }
  Stmt body = make_block(
      {make_block(clear),
       make_for(outer_k, int_imm(m.depth / m.unroll), ForKind::Serial, make_block(steps)),
       make_block(finish)});
  for (int k = m.rows * m.columns - 1; k >= 0; --k) {
    body = make_allocate(static_cast<BufferId>(3 + k), body);
  }
  f.body = make_for(block, int_imm(m.blocks), m.outer, body);
  return f;
}

}  // namespace tilewright::codegen
