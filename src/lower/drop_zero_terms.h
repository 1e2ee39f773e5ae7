// Leaves out what is multiplied by nothing: terms whose factor is the constant 0, and loops of
// which nothing is left.
//
//   fma(0.0, w, acc)       ->   acc
//   C[i] = C[i]            ->
//
// Taps of a convolution that meet the zeros around an image are such terms, once its loops are
// unrolled and borders are code of their own. A 0 times infinity would be NaN, so the other factor
// has to be known to be finite: a constant of the workload (ir::Buffer::finite). The sign of a zero
// may change, which takes the permission `reassociate`.
//
// Under the permission `winograd` any factor will do, and products by 1 go too: transforms by
// constant matrices, unrolled, are full of them.
//
//   fma(-1.0, x, acc)      ->   acc - x
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void drop_zero_terms(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
