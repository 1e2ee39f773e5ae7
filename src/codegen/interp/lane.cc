#include "codegen/interp/lane.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "ir/typing.h"

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;
using ir::Intrinsic;
using ir::Scalar;

float f32_of(Lane lane) { return std::bit_cast<float>(static_cast<uint32_t>(lane)); }
double f64_of(Lane lane) { return std::bit_cast<double>(lane); }
Lane lane_of_f32(float value) { return std::bit_cast<uint32_t>(value); }
Lane lane_of_f64(double value) { return std::bit_cast<uint64_t>(value); }

using Wide = __int128;  // holds every sum, product and shift of two 64-bit integers exactly

// Min and Max: a NaN operand is the result (the second one's, if both are); equal operands, the
// two zeros among them, give the first.
template <class T>
T minimum(T a, T b) {
  return std::isnan(b) || b < a ? b : a;
}
template <class T>
T maximum(T a, T b) {
  return std::isnan(b) || b > a ? b : a;
}

template <class T>
std::optional<T> arithmetic(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Min:
      return minimum(a, b);
    case BinaryOp::Max:
      return maximum(a, b);
    default:
      return std::nullopt;
  }
}

// As in ir/fold.cc, which the reference does not call: tests compare the two.
template <class T>
std::optional<Lane> comparison(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    default:
      return std::nullopt;
  }
}

// The largest integer that is not above a / b: -7 / 2 = -4.
Wide floor_quotient(Wide a, Wide b) {
  const Wide truncated = a / b;
  const Wide rest = a - truncated * b;
  return rest != 0 && (rest < 0) != (b < 0) ? truncated - 1 : truncated;
}

// Exact; empty for an operation without a value.
std::optional<Wide> integer_arithmetic(BinaryOp op, int bits, Wide a, Wide b) {
  const bool shifts = b >= 0 && b < bits;
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return b != 0 ? std::optional(floor_quotient(a, b)) : std::nullopt;
    case BinaryOp::Mod:
      return b != 0 ? std::optional(a - floor_quotient(a, b) * b) : std::nullopt;
    case BinaryOp::Min:
      return b < a ? b : a;
    case BinaryOp::Max:
      return b > a ? b : a;
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::ShiftLeft:
      return shifts ? std::optional(a << static_cast<int>(b)) : std::nullopt;
    case BinaryOp::ShiftRight:
      return shifts ? std::optional(floor_quotient(a, Wide{1} << static_cast<int>(b)))
                    : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The operand as an instruction reads it: equal to 0 for a denormal if the thread flushes
// denormals. Functions of the C library read its bits instead.
template <class T>
T operand(T value) {
  return value == 0 ? std::copysign(T{0}, value) : value;
}

template <class T>
T call_float(Intrinsic function, T x, T b) {
  const T a = function == Intrinsic::Abs ? x : operand(x);
  switch (function) {
    case Intrinsic::Abs:
      return std::fabs(a);
    case Intrinsic::Floor:
      return std::floor(a);
    case Intrinsic::Round:
      return std::nearbyint(a);
    case Intrinsic::Sqrt:
      return std::sqrt(a);
    case Intrinsic::Ldexp:
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      return std::ldexp(a, static_cast<int>(b));
    // `lower` replaces these by expressions with defined bits; before that, the nearest float.
    case Intrinsic::Exp:
      return static_cast<T>(std::exp(static_cast<double>(a)));
    case Intrinsic::Log:
      return static_cast<T>(std::log(static_cast<double>(a)));
    case Intrinsic::Tanh:
      return static_cast<T>(std::tanh(static_cast<double>(a)));
    case Intrinsic::Erf:
      return static_cast<T>(std::erf(static_cast<double>(a)));
    case Intrinsic::Sigmoid:
      return static_cast<T>(1 / (1 + std::exp(-static_cast<double>(a))));
    case Intrinsic::Rsqrt:
      return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
    case Intrinsic::Pow:
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Intrinsic::Neg:
    case Intrinsic::Not:
    case Intrinsic::Bitcast:
      break;
  }
  CHECK(false, "{} is not a function of floats", ir::name_of(function));
}

// Converts an integer to BF16 with one rounding: beyond 2^53 a double would round before. There the
// low bits are replaced by a sticky bit.
double double_near(int64_t value) {
  constexpr int64_t kLow = 0x7ff;
  if (value > -(int64_t{1} << 53) && value < (int64_t{1} << 53)) return static_cast<double>(value);
  return static_cast<double>((value & ~kLow) | ((value & kLow) != 0 ? 0x400 : 0));
}

float without_denormals(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

int bits_of(Scalar type) { return 8 * ir::bytes_of(type); }

}  // namespace

double float_of(Scalar type, Lane lane) {
  switch (type) {
    case Scalar::F64:
      return f64_of(lane);
    case Scalar::F32:
      return f32_of(lane);
    case Scalar::F16:
      return ir::f32_from_f16(static_cast<uint16_t>(lane));
    case Scalar::BF16:
      return ir::f32_from_bf16(static_cast<uint16_t>(lane));
    default:
      break;
  }
  CHECK(false, "{} is not a float", ir::name_of(type));
}

Lane lane_of_float(Scalar type, double value) {
  switch (type) {
    case Scalar::F64:
      return lane_of_f64(value);
    case Scalar::F32:
      return lane_of_f32(static_cast<float>(value));
    // `convert` rounds once; its result is exact in the narrow type and therefore in F32.
    case Scalar::F16:
      return ir::f16_from_f32(static_cast<float>(ir::convert(value, type)));
    case Scalar::BF16:
      return ir::bf16_from_f32(static_cast<float>(ir::convert(value, type)));
    default:
      break;
  }
  CHECK(false, "{} is not a float", ir::name_of(type));
}

Lane lane_of_exact(Scalar type, Wide exact) {
  if (type == Scalar::Bool) return exact != 0;
  CHECK(ir::is_integer(type), "{} is not an integer type", ir::name_of(type));
  const Wide range = Wide{1} << bits_of(type);
  const Wide low_bits = exact & (range - 1);
  const bool is_negative = ir::is_signed(type) && low_bits >= range / 2;
  return lane_of(static_cast<int64_t>(is_negative ? low_bits - range : low_bits));
}

Lane load_lane(Scalar type, const std::byte* from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(ir::bytes_of(type)));
  return ir::is_float(type) ? bits : lane_of_exact(type, bits);
}

void store_lane(Scalar type, Lane lane, std::byte* to) {
  std::memcpy(to, &lane, static_cast<size_t>(ir::bytes_of(type)));
}

std::optional<Lane> binary_lane(BinaryOp op, Scalar operands, Lane a, Lane b) {
  if (operands == Scalar::F32 && ir::is_comparison(op)) return comparison(op, f32_of(a), f32_of(b));
  if (operands == Scalar::F64 && ir::is_comparison(op)) return comparison(op, f64_of(a), f64_of(b));
  if (operands == Scalar::F32) {
    const auto value = arithmetic(op, f32_of(a), f32_of(b));
    return value ? std::optional(lane_of_f32(*value)) : std::nullopt;
  }
  if (operands == Scalar::F64) {
    const auto value = arithmetic(op, f64_of(a), f64_of(b));
    return value ? std::optional(lane_of_f64(*value)) : std::nullopt;
  }
  const Wide x = integer_of(a), y = integer_of(b);
  if (ir::is_comparison(op)) return comparison(op, x, y);
  const auto value = integer_arithmetic(op, bits_of(operands), x, y);
  return value ? std::optional(lane_of_exact(operands, *value)) : std::nullopt;
}

Lane fma_lane(Scalar type, Lane a, Lane b, Lane c) {
  if (type == Scalar::F32) return lane_of_f32(std::fma(f32_of(a), f32_of(b), f32_of(c)));
  CHECK(type == Scalar::F64, "fma of {}", ir::name_of(type));
  return lane_of_f64(std::fma(f64_of(a), f64_of(b), f64_of(c)));
}

Lane dot_lane(Scalar factor, ir::DotRounding rounding, Lane a, Lane b, Lane sum) {
  if (ir::is_integer(factor)) {
    return lane_of_exact(Scalar::I32, Wide{integer_of(a)} * integer_of(b) + integer_of(sum));
  }
  if (factor == Scalar::F64) return fma_lane(factor, a, b, sum);
  const bool flushed = rounding == ir::DotRounding::DescendingFlushed;
  const auto seen = [&](float value) { return flushed ? without_denormals(value) : value; };
  const auto f32 = [&](Lane bits) { return seen(static_cast<float>(float_of(factor, bits))); };
  return lane_of_f32(seen(std::fma(f32(a), f32(b), seen(f32_of(sum)))));
}

Lane cast_lane(Scalar from, Scalar to, Lane value) {
  if (from == to) return value;
  if (ir::is_float(from)) {
    const double number = float_of(from, value);
    if (ir::is_float(to)) return lane_of_float(to, number);
    return lane_of(ir::convert_to_integer(number, to));
  }
  const int64_t number = integer_of(value);
  if (!ir::is_float(to)) return lane_of_exact(to, number);
  if (to == Scalar::F64) return lane_of_f64(static_cast<double>(number));
  if (to == Scalar::F32) return lane_of_f32(static_cast<float>(number));
  return lane_of_float(to, double_near(number));
}

Lane bitcast_lane(Scalar from, Scalar to, Lane value) {
  CHECK(bits_of(from) == bits_of(to), "bitcast between sizes");
  const Lane bits = bits_of(from) == 64 ? value : value & ((Lane{1} << bits_of(from)) - 1);
  return ir::is_float(to) ? bits : lane_of_exact(to, bits);
}

Lane call_lane(Intrinsic function, Scalar type, Lane a, Lane b) {
  if (function == Intrinsic::Not) return a ^ 1;
  if (!ir::is_float(type)) {
    const bool negate = function == Intrinsic::Neg || integer_of(a) < 0;
    CHECK(function == Intrinsic::Neg || function == Intrinsic::Abs, "{} of {}",
          ir::name_of(function), ir::name_of(type));
    return negate ? lane_of_exact(type, -Wide{integer_of(a)}) : a;
  }
  if (function == Intrinsic::Neg) return a ^ (Lane{1} << (bits_of(type) - 1));
  if (type == Scalar::F32) return lane_of_f32(call_float(function, f32_of(a), f32_of(b)));
  CHECK(type == Scalar::F64, "{} of {}", ir::name_of(function), ir::name_of(type));
  return lane_of_f64(call_float(function, f64_of(a), f64_of(b)));
}

}  // namespace tilewright::codegen
