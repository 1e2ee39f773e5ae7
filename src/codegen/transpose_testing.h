// For tests: square tiles transposed into a temporary and out of it, with all kinds of indices and
// strides.
//
//   parallel for t < 3:                       A[3 * rows * width], C likewise
//     allocate T
//     for i < columns / size:
//       for j < rows / size:
//         transpose T = A                     T[c * pitch + r] = A[r * width + c]
//     for c < columns:
//       for r < rows:
//         C[r * width + c] = T[c * pitch + r]
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct TransposeProgram {
  int64_t size = 16;
  int64_t rows = 32, columns = 48;  // copied rows and columns of A; multiples of size
  int64_t width = 51, pitch = 39;   // row strides of A and of T, in elements
  ir::Scalar type = ir::Scalar::F32;
  ir::Scope scope = ir::Scope::Stack;
  static constexpr int64_t kRounds = 3;

  int64_t elements() const { return kRounds * rows * width; }
};

inline ir::Function make_transpose_program(const TransposeProgram& p) {
  using namespace ir;  // NOLINT(google-build-using-namespace)
  const Type element{p.type, 1};
  Function f{.name = "transposed",
             .buffers = {{.name = "A", .element = element, .shape = {p.elements()}},
                         {.name = "C", .element = element, .shape = {p.elements()}},
                         {.name = "T",
                          .element = element,
                          .shape = {p.columns * p.pitch},
                          .scope = p.scope}},
             .arguments = {0, 1},
             .argument_written = {false, true},
             .body = {}};
  const Expr t = var("t"), i = var("i"), j = var("j"), c = var("c"), r = var("r");
  const Expr base = t * (p.rows * p.width);
  const Stmt square =
      make_transpose({2, i * (p.size * p.pitch) + j * p.size, p.pitch},
                     {0, base + j * (p.size * p.width) + i * p.size, p.width}, p.size);
  const Stmt copy = make_for(i, int_imm(p.columns / p.size), ForKind::Serial,
                             make_for(j, int_imm(p.rows / p.size), ForKind::Serial, square));
  const Stmt back = make_store(1, {base + r * p.width + c}, load(p.type, 2, {c * p.pitch + r}));
  const Stmt read = make_for(c, int_imm(p.columns), ForKind::Serial,
                             make_for(r, int_imm(p.rows), ForKind::Serial, back));
  f.body = make_for(t, int_imm(TransposeProgram::kRounds), ForKind::Parallel,
                    make_allocate(2, make_block({copy, read})));
  return f;
}

// Squares of 4, 8 and 16; contiguous rows and rows with gaps; every kind of memory for the
// temporary.
inline std::vector<TransposeProgram> transpose_programs() {
  using ir::Scalar;
  using ir::Scope;
  return {{},
          {.size = 16, .rows = 16, .columns = 16, .width = 16, .pitch = 16},
          {.size = 8, .rows = 24, .columns = 8, .width = 9, .pitch = 24, .scope = Scope::Thread},
          {.size = 8, .rows = 8, .columns = 32, .width = 32, .pitch = 8},
          {.size = 4, .rows = 12, .columns = 20, .width = 23, .pitch = 12, .scope = Scope::Thread},
          {.size = 8, .rows = 16, .columns = 16, .type = Scalar::I32}};
}

}  // namespace tilewright::codegen
