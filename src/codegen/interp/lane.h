// Lane: one lane of a value, 64 bits that hold a scalar of any type, and its operations by the
// semantics of ir/expr.h and ir/type.h. Integers and Bool are held as their value (sign- or
// zero-extended), floats as the bits of their format, so that holding a value never rounds it or
// quiets a NaN. Operations on floats flush denormals if the calling thread does.
//
// The interpreter is the reference for the constant folder (ir/fold.h) too, so they share no
// operation: an error in one of them shows as a difference. Conversions between a float and other
// types are those of ir/type.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace tilewright::codegen {

using Lane = uint64_t;

inline int64_t integer_of(Lane lane) { return static_cast<int64_t>(lane); }
inline Lane lane_of(int64_t value) { return static_cast<Lane>(value); }

double float_of(ir::Scalar type, Lane lane);        // exact, for any float type
Lane lane_of_float(ir::Scalar type, double value);  // rounded once to the type

// The integer of `type` that equals `exact` modulo 2^bits. Bool: whether `exact` is not 0.
Lane lane_of_exact(ir::Scalar type, __int128 exact);

Lane load_lane(ir::Scalar type, const std::byte* from);
void store_lane(ir::Scalar type, Lane lane, std::byte* to);

// Empty if the operation has no value: a zero divisor, a shift out of range.
std::optional<Lane> binary_lane(ir::BinaryOp op, ir::Scalar operands, Lane a, Lane b);
Lane fma_lane(ir::Scalar type, Lane a, Lane b, Lane c);
// sum + a * b as Dot adds one product: integers into an I32, F64 into an F64, floats of another
// type `factor` into an F32.
Lane dot_lane(ir::Scalar factor, ir::DotRounding rounding, Lane a, Lane b, Lane sum);
Lane cast_lane(ir::Scalar from, ir::Scalar to, Lane value);
Lane bitcast_lane(ir::Scalar from, ir::Scalar to, Lane value);
// B: second argument, if any.
Lane call_lane(ir::Intrinsic function, ir::Scalar type, Lane a, Lane b);

}  // namespace tilewright::codegen
