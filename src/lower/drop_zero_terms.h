// Removes terms whose factor is the constant 0, and loops that become empty.
//
//   fma(0.0, w, acc)       ->   acc
//   C[i] = C[i]            ->
//
// Taps of a convolution that meet the zero padding are such terms, once its loops are unrolled and
// borders are separate code. 0 times infinity is NaN, so the other factor must be known to be
// finite: a constant of the workload (ir::Buffer::finite). The sign of a zero may change, which
// requires the permission `reassociate`.
//
// Under the permission `winograd`, any other factor is accepted, and products by 1 are removed too:
// unrolled transforms by constant matrices contain many of both.
//
//   fma(-1.0, x, acc)      ->   acc - x
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void drop_zero_terms(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
