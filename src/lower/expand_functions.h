// Expands functions such as exp into arithmetic, so that all back ends compute the same bits.
// Values that the expansion uses more than once are bound by Lets just above the statement.
//
//   B[i] = exp(A[i])   ->   let x = A[i]; let n = ...; let r = ...; B[i] = ldexp(fma(...), n)
//
// Select evaluates lazily and a Let does not: where a function stands in an arm of a Select and its
// argument could fail outside of it (a load, a division), the bound value is
// select(condition, argument, 0).
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void expand_functions(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
