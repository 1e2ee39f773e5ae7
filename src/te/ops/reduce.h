// Reductions over some axes of a tensor.
//
//   reduce:op=sum,shape=4x5x6,axes=1x-1     X[4, 5, 6] -> Y[4]
//   reduce:op=argmax,shape=4x5x6,axes=1,keep=1          -> Y[4, 1, 6] of i64
//
//   sum prod     accumulated in f32 for f16 and bf16, in i32 (also the result) for narrow integers
//   mean         floats only: stage `S`, the sum, then `Y` = S / count
//   max min      of the type of X
//   argmax argmin  the row-major index over `axes` of the first largest or smallest element, as
//                i64; a NaN is both larger and smaller than any number. One stage `Y`, a reduction
//                of (value, index), whose values `Y.0` are discarded: the output is `Y.1`
//   any all      whether some or all elements are not 0, as bool; X may be bool
//
// Axes of Y have the names of their dimensions in X (i, j, k, ...); reduce axes are prefixed by r.
// keep=1 keeps the reduced dimensions with extent 1.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, Argmax, Argmin, Any, All };

// Fails on an axis that does not exist or is repeated, and on a type without that reduction.
// `last`: argmax and argmin give the last of equal elements.
Result<std::shared_ptr<const Dag>> reduce(ReduceKind kind, std::span<const int64_t> shape,
                                          std::span<const int64_t> axes, bool keep = false,
                                          ir::Scalar element = ir::Scalar::F32, bool last = false);

Operator reduce_operator();

}  // namespace tilewright::te
