#include "oracle/value_set.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int mantissa_bits(ir::Scalar type) { return type == ir::Scalar::F64 ? 53 : 24; }

double largest_of(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::F16:
      return 65504;
    case ir::Scalar::BF16:
      return 0x1.fep127;
    case ir::Scalar::F32:
      return 0x1.fffffep127;
    default:
      return std::numeric_limits<double>::max();
  }
}

// The exponent of the smallest positive number.
int lowest_grid(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::F16:
      return -24;
    case ir::Scalar::BF16:
      return -133;
    case ir::Scalar::F32:
      return -149;
    default:
      return -1074;
  }
}

double magnitude(const ValueSet& x) { return std::max(std::abs(x.low), std::abs(x.high)); }

bool has_zero(const ValueSet& x) { return x.low <= 0 && x.high >= 0; }

// Unknown bounds are infinite.
ValueSet ordered(double low, double high, int grid, bool exact) {
  return {.low = std::isnan(low) ? -kInfinity : low,
          .high = std::isnan(high) ? kInfinity : high,
          .grid = grid,
          .exact = exact};
}

// The result of float arithmetic, exact only if nothing was rounded.
ValueSet rounded(ir::Scalar type, ValueSet x, bool& hazard) {
  hazard |= std::isfinite(magnitude(x)) && magnitude(x) > largest_of(type);
  x.exact = x.exact && x.grid >= lowest_grid(type) &&
            magnitude(x) <= std::ldexp(1.0, mantissa_bits(type) + x.grid);
  return x;
}

// The result of integer arithmetic, which wraps. An I64 beyond 2^53 is a hazard, because the oracle
// computes in doubles.
ValueSet wrapped(ir::Scalar type, const ValueSet& x, bool& hazard) {
  const ValueSet all = type_set(type);
  hazard |= type == ir::Scalar::I64 && magnitude(x) > 0x1p53;
  const bool fits = x.low >= all.low && x.high <= all.high;
  return {
      .low = fits ? x.low : all.low, .high = fits ? x.high : all.high, .grid = 0, .exact = x.exact};
}

template <class F>
ValueSet corners(const ValueSet& a, const ValueSet& b, const F& f, int grid) {
  const double values[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  double low = kInfinity, high = -kInfinity;
  for (const double value : values) {
    if (std::isnan(value)) return {-kInfinity, kInfinity, grid, a.exact && b.exact};
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {.low = low, .high = high, .grid = grid, .exact = a.exact && b.exact};
}

ValueSet multiply(const ValueSet& a, const ValueSet& b, bool same) {
  const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  ValueSet product = corners(a, b, times, a.grid + b.grid);
  if (same && has_zero(a)) product.low = 0;
  return product;
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return value != 0 && std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5;
}

ValueSet divide_floats(const ValueSet& a, const ValueSet& b, bool& hazard) {
  if (b.low == b.high && is_power_of_two(b.low)) {
    return corners(a, b, std::divides<>(), a.grid - std::ilogb(b.low));
  }
  hazard |= has_zero(b);
  if (has_zero(b)) return {-kInfinity, kInfinity, 0, false};
  ValueSet quotient = corners(a, b, std::divides<>(), 0);
  quotient.exact = false;
  return quotient;
}

ValueSet divide_integers(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b,
                         bool& hazard) {
  hazard |= has_zero(b);
  ValueSet all = type_set(type);
  all.exact = a.exact && b.exact;
  if (has_zero(b)) return all;
  if (op == ir::BinaryOp::Div) {
    return corners(a, b, [](double x, double y) { return std::floor(x / y); }, 0);
  }
  if (b.low <= 0) return all;
  return {.low = 0, .high = b.high - 1, .grid = 0, .exact = all.exact};
}

ValueSet bool_set(bool exact) { return {.low = 0, .high = 1, .grid = 0, .exact = exact}; }

ValueSet integer_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b,
                     bool same, bool& hazard) {
  using enum ir::BinaryOp;
  const bool exact = a.exact && b.exact;
  switch (op) {
    case Add:
      return wrapped(type, ordered(a.low + b.low, a.high + b.high, 0, exact), hazard);
    case Sub:
      return wrapped(type, ordered(a.low - b.high, a.high - b.low, 0, exact), hazard);
    case Mul:
      return wrapped(type, multiply(a, b, same), hazard);
    case Div:
    case Mod:
      return divide_integers(op, type, a, b, hazard);
    default: {  // bits and shifts
      ValueSet all = type_set(type);
      all.exact = exact;
      return all;
    }
  }
}

// A monotonic function of one argument.
template <class F>
ValueSet monotone(const ValueSet& x, const F& f) {
  const double low = f(x.low), high = f(x.high);
  return ordered(std::min(low, high), std::max(low, high), 0, false);
}

}  // namespace

ValueSet constant_set(double value) {
  int grid = 0;
  if (value != 0 && std::isfinite(value)) {
    int exponent = 0;
    auto digits = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    for (grid = exponent - 53; digits % 2 == 0; ++grid) digits /= 2;
  }
  return {.low = value, .high = value, .grid = grid, .exact = true};
}

ValueSet type_set(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::Bool:
      return bool_set(true);
    case ir::Scalar::I8:
      return {-0x1p7, 0x1p7 - 1, 0, true};
    case ir::Scalar::U8:
      return {0, 0x1p8 - 1, 0, true};
    case ir::Scalar::U16:
      return {0, 0x1p16 - 1, 0, true};
    case ir::Scalar::U32:
      return {0, 0x1p32 - 1, 0, true};
    case ir::Scalar::I16:
      return {-0x1p15, 0x1p15 - 1, 0, true};
    case ir::Scalar::I32:
      return {-0x1p31, 0x1p31 - 1, 0, true};
    case ir::Scalar::I64:
      return {-0x1p63, 0x1p63, 0, true};
    default:
      return {-kInfinity, kInfinity, 0, false};
  }
}

ValueSet join(const ValueSet& a, const ValueSet& b) {
  return {.low = std::min(a.low, b.low),
          .high = std::max(a.high, b.high),
          .grid = std::min(a.grid, b.grid),
          .exact = a.exact && b.exact};
}

ValueSet binary_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b,
                    bool same, bool& hazard) {
  using enum ir::BinaryOp;
  const bool exact = a.exact && b.exact;
  const int grid = std::min(a.grid, b.grid);
  if ((op >= Eq && op <= Ge) || op == And || op == Or) return bool_set(exact);
  if (op == Min) return {std::min(a.low, b.low), std::min(a.high, b.high), grid, exact};
  if (op == Max) return {std::max(a.low, b.low), std::max(a.high, b.high), grid, exact};
  if (!ir::is_float(type)) return integer_set(op, type, a, b, same, hazard);
  switch (op) {
    case Add:
      return rounded(type, ordered(a.low + b.low, a.high + b.high, grid, exact), hazard);
    case Sub:
      return rounded(type, ordered(a.low - b.high, a.high - b.low, grid, exact), hazard);
    case Mul:
      return rounded(type, multiply(a, b, same), hazard);
    default:
      return rounded(type, divide_floats(a, b, hazard), hazard);
  }
}

ValueSet call_set(ir::Intrinsic function, ir::Scalar type, const ValueSet& x, const ValueSet& y,
                  bool& hazard) {
  using enum ir::Intrinsic;
  const double min_magnitude = has_zero(x) ? 0 : std::min(std::abs(x.low), std::abs(x.high));
  switch (function) {
    case Not:
      return bool_set(x.exact);
    case Neg: {
      const ValueSet negative{-x.high, -x.low, x.grid, x.exact};
      return ir::is_float(type) ? negative : wrapped(type, negative, hazard);
    }
    case Abs: {
      const ValueSet positive{min_magnitude, magnitude(x), x.grid, x.exact};
      return ir::is_float(type) ? positive : wrapped(type, positive, hazard);
    }
    case Floor:
      return {std::floor(x.low), std::floor(x.high), std::max(0, x.grid), x.exact};
    case Round:
      return {std::nearbyint(x.low), std::nearbyint(x.high), std::max(0, x.grid), x.exact};
    case Sqrt:
      hazard |= x.low < 0;
      return monotone(x, [](double v) { return std::sqrt(std::max(v, 0.0)); });
    case Rsqrt:
      hazard |= x.low <= 0;
      return monotone(x, [](double v) { return 1 / std::sqrt(std::max(v, 0.0)); });
    case Log:
      hazard |= x.low <= 0;
      return monotone(x, [](double v) { return std::log(std::max(v, 0.0)); });
    case Exp: {
      const ValueSet power = monotone(x, [](double v) { return std::exp(v); });
      hazard |= power.high > largest_of(type);
      return power;
    }
    case Tanh:
      return monotone(x, [](double v) { return std::tanh(v); });
    case Erf:
      return monotone(x, [](double v) { return std::erf(v); });
    case Sigmoid:
      return monotone(x, [](double v) { return 1 / (1 + std::exp(-v)); });
    case Pow: {
      hazard |= x.low <= 0;
      if (x.low <= 0) return {-kInfinity, kInfinity, 0, false};
      ValueSet power = corners(x, y, [](double v, double n) { return std::pow(v, n); }, 0);
      power.exact = false;
      return power;
    }
    default:
      return type_set(type);
  }
}

ValueSet cast_set(ir::Scalar to, const ValueSet& x, ir::Scalar from, bool& hazard) {
  if (to == from) return x;
  if (to == ir::Scalar::Bool) return bool_set(x.exact);
  if (!ir::is_float(to)) {
    if (!ir::is_float(from)) return wrapped(to, x, hazard);
    const ValueSet all = type_set(to);  // truncates and saturates
    return {.low = std::clamp(std::trunc(x.low), all.low, all.high),
            .high = std::clamp(std::trunc(x.high), all.low, all.high),
            .grid = 0,
            .exact = x.exact};
  }
  const bool overflows = std::isfinite(magnitude(x)) && magnitude(x) > largest_of(to);
  hazard |= overflows;
  return {.low = ir::convert(x.low, to),
          .high = ir::convert(x.high, to),
          .grid = x.grid,
          .exact = x.exact && !overflows && x.grid >= lowest_grid(to)};
}

ValueSet fold_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& x, double count, bool& hazard) {
  using enum ir::BinaryOp;
  if (op == Add) {  // a partial sum may lack any of the terms
    const ValueSet partial{count * std::min(x.low, 0.0), count * std::max(x.high, 0.0), x.grid,
                           x.exact};
    if (!ir::is_float(type)) return wrapped(type, partial, hazard);
    ValueSet sum = rounded(type, partial, hazard);
    sum.low = std::max(sum.low, count * x.low);
    sum.high = std::min(sum.high, count * x.high);
    return sum;
  }
  if (op == Mul) {
    const double largest = std::pow(std::max(magnitude(x), 1.0), count);
    const bool whole = x.grid >= 0;
    const ValueSet product{x.low >= 0 ? 0 : -largest, largest, whole ? 0 : x.grid,
                           x.exact && whole};
    if (!ir::is_float(type)) return wrapped(type, product, hazard);
    return rounded(type, product, hazard);
  }
  return x;  // one of the operands
}

}  // namespace tilewright::oracle
