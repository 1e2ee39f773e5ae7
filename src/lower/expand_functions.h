// Expands functions such as exp into arithmetic, so that all back ends compute the same bits.
// Values that the expansion uses more than once are bound by Lets directly above the statement.
//
//   B[i] = exp(A[i])   ->   let x = A[i]; let n = ...; let r = ...; B[i] = ldexp(fma(...), n)
//
// Select is lazy and a Let is not: if a function is in an arm of a Select and its argument could
// fail outside it (a load, a division), the bound value is select(condition, argument, 0).
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void expand_functions(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
