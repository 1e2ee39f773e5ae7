// The constant matrices of Winograd's minimal filtering F(m, 3) (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", CVPR 2016, section 4): with a filter g of 3 and data d of
// m + 2 elements
//
//   y = A^T ((G g) * (B^T d)),  * element by element,  is  y[i] = sum over k of d[i + k] g[k]
//
// e.g. F(2, 3) with d = 1 2 3 4 and g = 1 1 1 gives 6 9 by 4 products instead of 6.
#pragma once

#include <vector>

#include "ir/expr.h"

namespace tilewright::te {

using Matrix = std::vector<std::vector<double>>;  // rows

struct WinogradMatrices {
  Matrix a_transposed;  // m x (m + 2)
  Matrix b_transposed;  // (m + 2) x (m + 2)
  Matrix g;             // (m + 2) x 3
  Matrix g_inverse;     // 3 x (m + 2), with g_inverse g = 1: the filter of a transformed one
};

const WinogradMatrices& winograd_matrices(int64_t m);  // m is 2 or 4

// matrix[row][column] of the given type as nested selects, which fold once row and column are
// constants:  {{1, 0}, {2, 3}} -> select(row == 0, select(column == 0, 1, 0), ...)
ir::Expr constant_entry(const Matrix& matrix, const ir::Expr& row, const ir::Expr& column,
                        ir::Type type);

}  // namespace tilewright::te
