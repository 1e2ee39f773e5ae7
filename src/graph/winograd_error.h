// An a priori bound of the rounding errors of Winograd's algorithm with given weights, as in
// Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of Winograd
// Convolution for Deep Neural Networks" (ACM TOMS 46(4), 2020), for tiles and several channels.
// With the matrices of te/ops/winograd_matrices.h, of which A and B have exact entries, output i, j
// of a tile is
//
//   y = sum over a, b of A[i,a] A[j,b]
//         sum over channels c of U[a,b,c]
//           sum over p, q of B[a,p] B[b,q] x[p,q,c]
//
// In floats with the unit roundoff u, each product of these sums passes through at most N
// roundings: one per nonzero term of the outer and of the inner sum, one per channel, and that of
// the stored U. In any order of the sums, with or without fma, therefore (Higham, "Accuracy and
// Stability of Numerical Algorithms", section 3.1), with gamma = N u / (1 - N u) and beta[a] = sum
// of |B[a,p]|
//
//   |computed - exact|
//     <= max|x| sum over a, b, c of gamma |A[i,a] A[j,b]| beta[a] beta[b] |U[a,b,c]|
//
// plus a small term for U, which was computed in f64. `exact` is the convolution of the same input
// without rounding. The bound holds for every input unless a number underflows or overflows. It is
// not an estimate: errors of random inputs are often a thousand times smaller.
#pragma once

#include "graph/constant.h"

namespace tilewright::graph {

struct WinogradError {
  double bound = 0;   // |computed - exact| <= bound * max|x|, for each element of the result
  double direct = 0;  // the same kind of bound of a direct convolution, for about these weights
};

// `weights` are those of a conv_winograd, [m+2, m+2, ci, co], f32 or f64.
WinogradError winograd_error(const Constant& weights);

}  // namespace tilewright::graph
