// Leaves out what is multiplied by nothing: terms whose factor is the constant 0, and products
// by 1. Transforms by constant matrices, unrolled, are full of them. A 0 times infinity would be
// NaN, so this is done under the licence `winograd` alone.
//
//   fma(0.0, x, acc)       ->   acc
//   fma(-1.0, x, acc)      ->   acc - x
//   C[i] = C[i]            ->
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void drop_zero_terms(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
