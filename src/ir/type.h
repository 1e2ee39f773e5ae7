// Scalar types, vectors of them, and conversions between them. Every back end and evaluator follows
// these rules.
//
// Semantics.
// - Integers wrap (two's complement). Indices are I64. Bool is 0 or 1.
// - F16 and BF16 are storage: arithmetic on them is done in F32 and rounded where it is stored or
//   cast (arithmetic_type). A float is rounded to nearest, ties to even; NaN stays NaN, overflow
//   gives infinity.
// - Denormals of F32 and F64 count as zero, unless the function keeps them (Function::denormals).
//   An arithmetic operation, a comparison and a cast treat a denormal operand as the zero of its
//   sign, and return that zero if the result, rounded to the precision of the type, is denormal.
//   Operations that only move values (Load, Select, Neg, Abs, Bitcast, Min, Max) may do either, and
//   so may casts to BF16, which has the same denormals as F32: two results count as equal if they
//   are equal after denormals are replaced by zeros. Denormals of F16 are always kept; F32 has them
//   as ordinary numbers. This is a mode of the processor (runtime/abi/float_control.h), not a part
//   of the code: the caller of a kernel sets it, and the interpreter runs in the same mode.
// - Float to integer truncates toward zero; NaN gives 0, out of range saturates. Float to Bool is
//   x != 0. Integer to narrower integer keeps the low bits. Integer to float rounds to nearest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::ir {

// Append-only: keys contain the numbers.
enum class Scalar : uint8_t { Bool, I8, I16, I32, I64, U8, F16, BF16, F32, F64, U16, U32 };

struct Type {
  Scalar scalar = Scalar::I64;
  uint16_t lanes = 1;

  constexpr bool operator==(const Type&) const = default;
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr Type with_lanes(unsigned n) const { return {scalar, static_cast<uint16_t>(n)}; }
  constexpr Type element() const { return {scalar, 1}; }
};

constexpr bool is_float(Scalar s) { return s >= Scalar::F16 && s <= Scalar::F64; }
constexpr bool is_integer(Scalar s) { return s != Scalar::Bool && !is_float(s); }
constexpr bool is_signed(Scalar s) { return s >= Scalar::I8 && s <= Scalar::I64; }
constexpr bool is_float(Type t) { return is_float(t.scalar); }
constexpr bool is_integer(Type t) { return is_integer(t.scalar); }
constexpr bool is_bool(Type t) { return t.scalar == Scalar::Bool; }

int bytes_of(Scalar s);              // in memory; Bool is one byte
Scalar arithmetic_type(Scalar s);    // F16, BF16 -> F32, else itself
std::string_view name_of(Scalar s);  // "f32", "bool", ...
std::optional<Scalar> scalar_named(std::string_view name);
std::string to_string(Type t);  // "f32", "f32x16"

// `value` cast to `to`, by the rules above. A double holds every value of every type except large
// I64 values, for which there are the integer forms.
double convert(double value, Scalar to);  // result exactly representable in `to`
int64_t convert_to_integer(double value, Scalar to);
int64_t wrap_integer(int64_t value, Scalar to);  // integer -> narrower integer or Bool

// The value, or the zero of its sign if it is a denormal that counts as zero (see above), which is
// one of F32, BF16 or F64.
double flush_denormal(double value, Scalar type);
// The least positive number of a float type that is not denormal.
double min_normal(Scalar type);

// Bits of the two storage types.
uint16_t f16_from_f32(float value);
float f32_from_f16(uint16_t bits);
uint16_t bf16_from_f32(float value);
float f32_from_bf16(uint16_t bits);

inline constexpr Type kIndex{Scalar::I64, 1};
inline constexpr Type kBool{Scalar::Bool, 1};
inline constexpr Type kF32{Scalar::F32, 1};

}  // namespace tilewright::ir
