#include "te/ops/winograd_matrices.h"

#include "base/check.h"

namespace tilewright::te {
namespace {

ir::Expr equals(const ir::Expr& index, size_t value) {
  return ir::binary(ir::BinaryOp::Eq, index, ir::int_imm(static_cast<int64_t>(value)));
}

// One row; entries that it does not list are 0.
ir::Expr entry_of_row(const std::vector<double>& row, const ir::Expr& column, ir::Type type) {
  ir::Expr entry = ir::imm(0, type);
  for (size_t c = row.size(); c-- > 0;) {
    if (row[c] != 0) entry = ir::select(equals(column, c), ir::imm(row[c], type), entry);
  }
  return entry;
}

}  // namespace

const WinogradMatrices& winograd_matrices(int64_t m) {
  CHECK(m == 2 || m == 4, "no matrices of F({}, 3)", m);
  static const WinogradMatrices two = {.a_transposed = {{1, 1, 1, 0},  //
                                                        {0, 1, -1, -1}},
                                       .b_transposed = {{1, 0, -1, 0},  //
                                                        {0, 1, 1, 0},
                                                        {0, -1, 1, 0},
                                                        {0, 1, 0, -1}},
                                       .g = {{1, 0, 0},  //
                                             {1.0 / 2, 1.0 / 2, 1.0 / 2},
                                             {1.0 / 2, -1.0 / 2, 1.0 / 2},
                                             {0, 0, 1}},
                                       .g_inverse = {{1, 0, 0, 0},  //
                                                     {0, 1, -1, 0},
                                                     {0, 0, 0, 1}}};
  static const WinogradMatrices four = {
      .a_transposed = {{1, 1, 1, 1, 1, 0},
                       {0, 1, -1, 2, -2, 0},
                       {0, 1, 1, 4, 4, 0},
                       {0, 1, -1, 8, -8, 1}},
      .b_transposed = {{4, 0, -5, 0, 1, 0},
                       {0, -4, -4, 1, 1, 0},
                       {0, 4, -4, -1, 1, 0},
                       {0, -2, -1, 2, 1, 0},
                       {0, 2, -1, -2, 1, 0},
                       {0, 4, 0, -5, 0, 1}},
      .g = {{1.0 / 4, 0, 0},
            {-1.0 / 6, -1.0 / 6, -1.0 / 6},
            {-1.0 / 6, 1.0 / 6, -1.0 / 6},
            {1.0 / 24, 1.0 / 12, 1.0 / 6},
            {1.0 / 24, -1.0 / 12, 1.0 / 6},
            {0, 0, 1}},
      .g_inverse = {{4, 0, 0, 0, 0, 0}, {0, -3, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 1}}};
  return m == 2 ? two : four;
}

ir::Expr constant_entry(const Matrix& matrix, const ir::Expr& row, const ir::Expr& column,
                        ir::Type type) {
  ir::Expr entry = entry_of_row(matrix.back(), column, type);
  for (size_t r = matrix.size() - 1; r-- > 0;) {
    entry = ir::select(equals(row, r), entry_of_row(matrix[r], column, type), entry);
  }
  return entry;
}

}  // namespace tilewright::te
