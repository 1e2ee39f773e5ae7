#include "ir/type.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tilewright::ir {
namespace {

struct ScalarInfo {
  std::string_view name;
  int bytes;
};

constexpr ScalarInfo kScalars[] = {
    {"bool", 1}, {"i8", 1},   {"i16", 2}, {"i32", 4}, {"i64", 8}, {"u8", 1},
    {"f16", 2},  {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"u16", 2}, {"u32", 4},
};

// `value` rounded once, to nearest even, to a binary format of `precision` significant bits whose
// smallest normal exponent is `min_exponent` and whose largest finite value is `largest`.
//   11 bits, -14:  2049 -> 2048,  65520 -> inf,  2^-25 -> 0,  3 * 2^-25 -> 2^-23
double round_to_format(double value, int precision, int min_exponent, double largest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const int quantum = exponent - (precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  if (std::abs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

double round_to_f16(double value) { return round_to_format(value, 11, -14, 65504.0); }
double round_to_bf16(double value) { return round_to_format(value, 8, -126, 0x1.fep127); }

}  // namespace

int bytes_of(Scalar s) { return kScalars[static_cast<size_t>(s)].bytes; }

Scalar arithmetic_type(Scalar s) { return s == Scalar::F16 || s == Scalar::BF16 ? Scalar::F32 : s; }

std::string_view name_of(Scalar s) { return kScalars[static_cast<size_t>(s)].name; }

std::optional<Scalar> scalar_named(std::string_view name) {
  for (size_t k = 0; k < std::size(kScalars); ++k) {
    if (kScalars[k].name == name) return static_cast<Scalar>(k);
  }
  return std::nullopt;
}

std::string to_string(Type t) {
  std::string text(name_of(t.scalar));
  if (t.is_vector()) text += "x" + std::to_string(t.lanes);
  return text;
}

double convert(double value, Scalar to) {
  switch (to) {
    case Scalar::F64:
      return value;
    case Scalar::F32:
      return static_cast<float>(value);
    case Scalar::F16:
      return round_to_f16(value);
    case Scalar::BF16:
      return round_to_bf16(value);
    default:
      return static_cast<double>(convert_to_integer(value, to));
  }
}

int64_t convert_to_integer(double value, Scalar to) {
  CHECK(!is_float(to), "{} is not an integer type", name_of(to));
  if (to == Scalar::Bool) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  const int bits = 8 * bytes_of(to);
  if (to == Scalar::I64) {
    if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
    if (value <= -0x1p63) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(value);
  }
  const int64_t high = is_signed(to) ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  const int64_t low = is_signed(to) ? -(int64_t{1} << (bits - 1)) : 0;
  if (value >= static_cast<double>(high)) return high;
  if (value <= static_cast<double>(low)) return low;
  return static_cast<int64_t>(value);
}

int64_t wrap_integer(int64_t value, Scalar to) {
  switch (to) {
    case Scalar::Bool:
      return value != 0 ? 1 : 0;
    case Scalar::I8:
      return static_cast<int8_t>(value);
    case Scalar::I16:
      return static_cast<int16_t>(value);
    case Scalar::I32:
      return static_cast<int32_t>(value);
    case Scalar::I64:
      return value;
    case Scalar::U8:
      return static_cast<uint8_t>(value);
    case Scalar::U16:
      return static_cast<uint16_t>(value);
    case Scalar::U32:
      return static_cast<uint32_t>(value);
    default:
      break;
  }
  CHECK(false, "{} is not an integer type", name_of(to));
}

double min_normal(Scalar type) {
  CHECK(is_float(type), "{} is not a float", name_of(type));
  return type == Scalar::F64 ? 0x1p-1022 : type == Scalar::F16 ? 0x1p-14 : 0x1p-126;
}

double flush_denormal(double value, Scalar type) {
  const bool kept = !is_float(type) || type == Scalar::F16;
  return kept || !(std::abs(value) < min_normal(type)) ? value : std::copysign(0.0, value);
}

uint16_t f16_from_f32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: made quiet, the upper bits of its payload kept
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // >= 65520 rounds to infinity
  if (magnitude < 0x38800000u) {                        // below 2^-14: a denormal, n * 2^-24
    const float n = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(n));
  }
  // Exponent bias 127 -> 15, then 23 -> 10 bits of fraction; the carry of rounding may run into
  // the exponent, which is right.
  const uint32_t rebased = magnitude - ((127u - 15u) << 23);
  const uint32_t rounded = rebased + 0xfffu + ((rebased >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

float f32_from_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or denormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  const uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + (127u - 15u);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

uint16_t bf16_from_f32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {  // NaN: made quiet
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float f32_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace tilewright::ir
