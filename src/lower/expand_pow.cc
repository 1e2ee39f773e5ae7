#include "lower/expand_pow.h"

#include <limits>
#include <span>

#include "lower/expand_arithmetic.h"
#include "lower/expand_frexp.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Constant {
  double high, low;
};

struct PowConstants {
  Constant first, third;         // coefficients of s and s^3: 2 / ln 2 and a third of it
  std::span<const double> rest;  // t
  std::span<const double> exp2;  // p
  double limit;                  // beyond it 2^n is 0 or infinity
};

constexpr double kRestF32[] = {0x1.27770ep-1, 0x1.a5bbfap-2, 0x1.59ee04p-2};
constexpr double kRestF64[] = {0x1.2776c50ef9d24p-1, 0x1.a61762a759841p-2, 0x1.484b142199375p-2,
                               0x1.0c9a63d6a70dfp-2, 0x1.c69f8c243ce0dp-3, 0x1.87b0c02bd6c15p-3,
                               0x1.85e92ec03167ep-3};
constexpr double kExp2F32[] = {1.0,           0x1.62e430p-1,  0x1.ebfbdcp-3, 0x1.c6afacp-5,
                               0x1.3b3002p-7, 0x1.5ee9aep-10, 0x1.3f17eap-13};
constexpr double kExp2F64[] = {1.0,
                               0x1.62e42fefa39efp-1,
                               0x1.ebfbdff82c58fp-3,
                               0x1.c6b08d704a0eep-5,
                               0x1.3b2ab6fba2d88p-7,
                               0x1.5d87fe78b10f9p-10,
                               0x1.430913073c309p-13,
                               0x1.ffcbfbfa43f5bp-17,
                               0x1.62bfd88ae04bdp-20,
                               0x1.b5261d9bbd88bp-24,
                               0x1.e600e69b4e946p-28,
                               0x1.e7e0a3dd2b995p-32};

constexpr PowConstants kF32 = {.first = {0x1.715476p+1, 0x1.4ae0cp-25},
                               .third = {0x1.ec709ep-1, -0x1.e2fe02p-28},
                               .rest = kRestF32,
                               .exp2 = kExp2F32,
                               .limit = 160};
constexpr PowConstants kF64 = {.first = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55},
                               .third = {0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55},
                               .rest = kRestF64,
                               .exp2 = kExp2F64,
                               .limit = 1090};

// high + low, |low| at most about an ulp of high.
struct DoubleWord {
  Expr high, low;
};

class PowExpander {
 public:
  PowExpander(Expr x, Expr y, Bindings& bindings)
      : bindings_(bindings),
        constants_(is_f32(x.type()) ? kF32 : kF64),
        x_(bindings.bind("pow_x", std::move(x))),
        y_(bindings.bind("pow_y", std::move(y))) {}

  Expr expand() {
    const Expr magnitude = bind(ir::call(Intrinsic::Abs, {x_}));
    const Expr power = bind(exp2(times_exponent(log2(magnitude))));
    const Expr is_one =
        equal(x_, number(1)) || equal(y_, number(0)) ||
        (equal(magnitude, number(1)) && equal(ir::call(Intrinsic::Abs, {y_}), number(kInfinity)));
    return ir::select(is_one, number(1), signed_power(power));
  }

 private:
  Expr bind(Expr value) { return bindings_.bind("pow", std::move(value)); }
  Expr number(double value) const { return ir::float_imm(value, x_.type()); }
  DoubleWord number(Constant c) const { return {.high = number(c.high), .low = number(c.low)}; }
  static Expr equal(const Expr& a, const Expr& b) { return ir::binary(BinaryOp::Eq, a, b); }
  static Expr negated(const Expr& a) { return ir::call(Intrinsic::Neg, {a}); }

  // a + b + low, where |a| >= |b| or a is 0, so that the error of a + b is a float.
  DoubleWord sum(const Expr& a, const Expr& b, const Expr& low) {
    const Expr high = bind(a + b);
    return {.high = high, .low = bind((b - (high - a)) + low)};
  }

  DoubleWord product(const DoubleWord& a, const DoubleWord& b) {
    const Expr high = bind(a.high * b.high);
    const Expr error = ir::fma(a.high, b.high, negated(high));
    return {.high = high, .low = bind(ir::fma(a.high, b.low, ir::fma(a.low, b.high, error)))};
  }

  // (m - 1) / (m + 1): the quotient of the high parts, corrected by its remainder.
  DoubleWord quotient(const Expr& m) {
    const DoubleWord divisor = plus_one(m);
    const Expr dividend = bind(m - number(1));  // exact
    const Expr reciprocal = bind(number(1) / divisor.high);
    const Expr high = bind(dividend * reciprocal);
    const Expr minus = bind(negated(high));
    const Expr left = ir::fma(minus, divisor.low, ir::fma(minus, divisor.high, dividend));
    return {.high = high, .low = bind(left * reciprocal)};
  }

  DoubleWord plus_one(const Expr& m) {  // exact, m being within a factor of 2 of 1
    const Expr high = bind(m + number(1));
    return {.high = high, .low = bind(m - (high - number(1)))};
  }

  // For 0, infinity and NaN: -infinity, infinity and NaN; the low part is arbitrary.
  DoubleWord log2(const Expr& magnitude) {
    const Frexp parts = expand_frexp(magnitude, bindings_);
    const DoubleWord s = quotient(parts.mantissa), z = product(s, s);
    const DoubleWord first = number(constants_.first), third = number(constants_.third);
    const Expr rest = bind(z.high * horner(constants_.rest, z.high));
    const DoubleWord inner = product(z, sum(third.high, rest, third.low));
    const DoubleWord factor = sum(first.high, inner.high, inner.low + first.low);
    const DoubleWord fraction = product(s, factor);
    const DoubleWord log = sum(parts.exponent, fraction.high, fraction.low);
    const Expr upper = ir::select(magnitude < number(kInfinity), log.high, magnitude);
    return {.high = bind(ir::select(equal(magnitude, number(0)), number(-kInfinity), upper)),
            .low = log.low};
  }

  // y * log, clamped; at the limits and at infinities the low part is 0.
  DoubleWord times_exponent(const DoubleWord& log) {
    const double limit = constants_.limit;
    const Expr high = bind(y_ * log.high);
    const Expr low = ir::fma(y_, log.low, ir::fma(y_, log.high, negated(high)));
    const Expr is_inside = ir::call(Intrinsic::Abs, {high}) < number(limit);
    const Expr raised = bind(at_least(high, -limit));
    return {.high = bind(at_most(raised, limit)), .low = ir::select(is_inside, low, number(0))};
  }

  Expr exp2(const DoubleWord& exponent) {
    const Expr n = bind(ir::call(Intrinsic::Round, {exponent.high}));
    const Expr fraction = bind((exponent.high - n) + exponent.low);
    return ir::call(Intrinsic::Ldexp, {horner(constants_.exp2, fraction), n});
  }

  // Negative if x is negative and y is odd; NaN if x is negative and y is not integral. The
  // infinities count as integral, and -infinity and -0 have a power for every y.
  Expr signed_power(const Expr& power) {
    const auto is_integral = [](const Expr& value) {
      return equal(ir::call(Intrinsic::Floor, {value}), value);
    };
    const Expr is_whole = bind(is_integral(y_));
    const Expr half = bind(y_ * number(0.5));
    const Expr is_odd = is_whole && ir::call(Intrinsic::Not, {is_integral(half)});
    const Expr with_sign = ir::select(is_odd, with_sign_of(power, x_), power);
    const Expr has_none = ir::binary(BinaryOp::Gt, x_, number(-kInfinity)) && x_ < number(0) &&
                          ir::call(Intrinsic::Not, {is_whole});
    return ir::select(has_none, number(kNan), with_sign);
  }

  Bindings& bindings_;
  const PowConstants& constants_;
  Expr x_, y_;
};

}  // namespace

Expr expand_pow(const Expr& x, const Expr& y, Bindings& bindings) {
  const auto* vector = y.as<ir::Broadcast>();
  const auto* constant = (vector != nullptr ? vector->value : y).as<ir::FloatImm>();
  if (constant != nullptr && (constant->value == 2 || constant->value == 3)) {
    const Expr base = bindings.bind("pow_x", x);
    return constant->value == 2 ? base * base : base * base * base;
  }
  return PowExpander(x, y, bindings).expand();
}

}  // namespace tilewright::lower
