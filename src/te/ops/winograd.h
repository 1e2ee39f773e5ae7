// Convolution of stride 1 with a 3x3 kernel by Winograd's minimal filtering F(m x m, 3x3) (Lavin
// and Gray, CVPR 2016), channels last:
//
//   X[n, h, w, ci] W[3, 3, ci, co] -> Y[n, h + 2 pad - 2, w + 2 pad - 2, co]
//
// Tile p of image n is the (m+2) x (m+2) elements of the input that its m x m outputs need; its row
// is p / tiles_x, its column p mod tiles_x. Per tile and pair of channels, (m+2)^2 products replace
// 9 m^2: 16 instead of 36 with m = 2, 36 instead of 144 with m = 4. Rounding errors grow with m.
// Stages:
//
//   P[n, y, x, c]     X padded with zeros to whole tiles (absent if there are none to add)
//   T[a, b, n, p, c]  = P[n, p / tiles_x * m + a, p mod tiles_x * m + b, c]    input tiles
//   V[a, b, n, p, c]  = sum over ra, rb of B[ra, a] B[rb, b] T[ra, rb, n, p, c]
//   U[a, b, i, c]     = sum over ra, rb of G[a, ra] G[b, rb] W[ra, rb, i, c]
//   M[a, b, n, p, c]  = sum over rc of V[a, b, n, p, rc] * U[a, b, rc, c]
//   I[a, b, n, p, c]  = sum over ra, rb of A[ra, a] A[rb, b] M[ra, rb, n, p, c]
//   Y[n, y, x, c]     = I[y mod m, x mod m, n, y / m * tiles_x + x / m, c]
//
// With `transformed` the operand W[m+2, m+2, ci, co] replaces U. The axes a, b, ra, rb of the
// transforms have the hint simplify_const_index: once unrolled, entries of A, B and G are
// constants. The FLOP are those of the direct algorithm, counted at M; the transforms count none.
#pragma once

#include <memory>

#include "te/ops/operator.h"

namespace tilewright::te {

struct WinogradShape {
  int64_t n = 1;
  int64_t h = 1, w = 1;
  int64_t ci = 1, co = 1;
  int64_t pad = 0;
  int64_t m = 4;             // 2 or 4: rows and columns of an output tile
  bool transformed = false;  // the operand W is U
  ir::Scalar element = ir::Scalar::F32;
};

// Fails if the kernel does not fit, m is not 2 or 4, or the type is not f32 or f64.
Result<std::shared_ptr<const Dag>> conv2d_winograd(const WinogradShape& shape);

Operator conv2d_winograd_operator();

}  // namespace tilewright::te
