#include "graph/ops/functions.h"

#include <numbers>
#include <vector>

#include "graph/ops/common.h"

namespace tilewright::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;

bool is_f32(const Expr& x) { return x.type().scalar == ir::Scalar::F32; }

Expr absolute(const Expr& x) { return call(Intrinsic::Abs, x); }
Expr negated(const Expr& x) { return call(Intrinsic::Neg, x); }
Expr root(const Expr& x) { return call(Intrinsic::Sqrt, x); }
Expr logarithm(const Expr& x) { return call(Intrinsic::Log, x); }
Expr is_negative(const Expr& x) { return x < number(0, x); }
Expr is_above(const Expr& x, double bound) {
  return ir::binary(ir::BinaryOp::Gt, x, number(bound, x));
}
// One of two numbers. Large subexpressions stay outside of Selects and occur once, since
// expressions are counted and printed as trees.
Expr choose(const Expr& condition, double if_true, double if_false, const Expr& like) {
  return ir::select(condition, number(if_true, like), number(if_false, like));
}
Expr with_sign_of(const Expr& magnitude, const Expr& x) {
  return magnitude * choose(is_negative(x), -1, 1, x);
}

// The first `terms` terms of x - x^3/3! + x^5/5! - ... (sign -1), or of the same without signs.
std::vector<double> sine_terms(size_t terms, double sign) {
  std::vector<double> c = {1};
  for (size_t k = 1; k < terms; ++k) {
    c.push_back(c.back() * sign / static_cast<double>(2 * k * (2 * k + 1)));
  }
  return c;
}

// The first `terms` terms of x - x^3/3 + x^5/5 - ... (sign -1), or of the same without signs.
std::vector<double> tangent_terms(size_t terms, double sign) {
  std::vector<double> c;
  double factor = 1;
  for (size_t k = 0; k < terms; ++k, factor *= sign) {
    c.push_back(factor / static_cast<double>(2 * k + 1));
  }
  return c;
}

// The first `terms` terms of asin x = x + x^3/6 + 3 x^5/40 + ...
std::vector<double> arc_sine_terms(size_t terms) {
  std::vector<double> c;
  double factor = 1;  // (2k)! / (4^k k!^2)
  for (size_t k = 0; k < terms; ++k) {
    c.push_back(factor / static_cast<double>(2 * k + 1));
    factor *= static_cast<double>(2 * k + 1) / static_cast<double>(2 * k + 2);
  }
  return c;
}

// c[0] + c[1] z + c[2] z^2 + ...
Expr polynomial(const Expr& z, const std::vector<double>& c) {
  Expr sum = number(c.back(), z);
  for (size_t k = c.size() - 1; k-- > 0;) sum = sum * z + number(c[k], z);
  return sum;
}

// x * (c[0] + c[1] x^2 + c[2] x^4 + ...)
Expr odd_series(const Expr& x, const std::vector<double>& c) { return x * polynomial(x * x, c); }

// x = (k + half) pi + r gives (-1)^k sin(r); half is 0 or 1/2.
Expr reduced_sine(const Expr& x, double half) {
  constexpr double kParts32[] = {3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7};
  constexpr double kParts64[] = {3.14159250259399414062, 1.509957883172319270672e-7,
                                 1.07806057163162381058e-14};
  Expr turns = x * number(1 / std::numbers::pi, x);
  if (half != 0) turns = turns - number(half, x);
  const Expr k = call(Intrinsic::Round, turns);
  const Expr place = half == 0 ? k : k + number(half, x);
  Expr r = x;
  for (const double part : is_f32(x) ? kParts32 : kParts64) r = r - place * number(part, x);
  const Expr odd = k - call(Intrinsic::Floor, k * number(0.5, x)) * number(2, x);
  const Expr sine = odd_series(r, sine_terms(is_f32(x) ? 7 : 11, -1));
  return sine * (number(1, x) - odd * number(2, x));
}

// log(1 + u) for u >= 0.
Expr log1p(const Expr& u) {
  const Expr ratio = u / (u + number(2, u));
  const Expr series = odd_series(ratio, tangent_terms(is_f32(u) ? 7 : 15, 1)) * number(2, u);
  return ir::select(is_above(u, 0.7), logarithm(u + number(1, u)), series);
}

}  // namespace

Expr sin_of(const Expr& x) { return reduced_sine(x, 0); }

// cos x = -sin(x - pi/2), and x = (k + 1/2) pi + r makes that -(-1)^k sin r.
Expr cos_of(const Expr& x) { return negated(reduced_sine(x, 0.5)); }

Expr tan_of(const Expr& x) { return sin_of(x) / cos_of(x); }

Expr atan_of(const Expr& x) {
  constexpr double kEighth = std::numbers::sqrt2 - 1;  // tan(pi / 8)
  const Expr a = absolute(x);
  const Expr beyond = is_above(a, 1);
  const Expr z = ir::select(beyond, number(1, x) / a, a);
  const Expr wide = is_above(z, kEighth);
  const Expr w = ir::select(wide, (z - number(1, x)) / (z + number(1, x)), z);
  const Expr series = odd_series(w, tangent_terms(is_f32(x) ? 10 : 21, -1));
  const Expr inner = series + choose(wide, std::numbers::pi / 4, 0, x);
  const Expr whole = choose(beyond, std::numbers::pi / 2, 0, x) + inner * choose(beyond, -1, 1, x);
  return with_sign_of(whole, x);
}

namespace {

// asin |x| = asin y where y = |x| up to 1/2, and beyond it pi/2 - 2 asin y, 2 y^2 = 1 - |x|.
struct ArcSine {
  Expr wide;
  Expr value;  // asin y
};

ArcSine arc_sine(const Expr& x) {
  const Expr a = absolute(x);
  const Expr wide = is_above(a, 0.5);
  const Expr square = ir::select(wide, (number(1, x) - a) * number(0.5, x), x * x);
  const Expr y = root(square);
  return {.wide = wide, .value = y * polynomial(square, arc_sine_terms(is_f32(x) ? 12 : 26))};
}

}  // namespace

Expr asin_of(const Expr& x) {
  const ArcSine arc = arc_sine(x);
  const Expr whole =
      choose(arc.wide, std::numbers::pi / 2, 0, x) + arc.value * choose(arc.wide, -2, 1, x);
  return with_sign_of(whole, x);
}

// pi/2 - asin x, without the difference where x is near 1.
Expr acos_of(const Expr& x) {
  const ArcSine arc = arc_sine(x);
  const Expr base = ir::select(arc.wide, choose(is_negative(x), std::numbers::pi, 0, x),
                               number(std::numbers::pi / 2, x));
  const Expr factor =
      ir::select(arc.wide, choose(is_negative(x), -2, 2, x), choose(is_negative(x), 1, -1, x));
  return base + arc.value * factor;
}

Expr sinh_of(const Expr& x) {
  const Expr series = odd_series(x, sine_terms(is_f32(x) ? 6 : 10, 1));
  const Expr wide = (ir::exp(x) - ir::exp(negated(x))) * number(0.5, x);
  return ir::select(is_above(absolute(x), 1), wide, series);
}

Expr cosh_of(const Expr& x) { return (ir::exp(x) + ir::exp(negated(x))) * number(0.5, x); }

Expr asinh_of(const Expr& x) {
  const Expr a = absolute(x);
  const Expr one = number(1, x);
  // a + sqrt(a^2 + 1) - 1, without the difference.
  const Expr above_one = a + a * a / (root(a * a + one) + one);
  return with_sign_of(log1p(above_one), x);
}

Expr acosh_of(const Expr& x) {
  const Expr t = x - number(1, x);
  return log1p(t + root(t * (t + number(2, x))));
}

Expr atanh_of(const Expr& x) {
  const Expr a = absolute(x);
  const Expr doubled = a * number(2, x) / (number(1, x) - a);
  return with_sign_of(log1p(doubled) * number(0.5, x), x);
}

Expr softplus_of(const Expr& x) {
  return ir::max(x, number(0, x)) + log1p(ir::exp(negated(absolute(x))));
}

// tanh(log(1 + n)) = n (n + 2) / (n (n + 2) + 2) with n = exp(x), which is 1 for x beyond 20.
Expr mish_of(const Expr& x) {
  const Expr n = ir::exp(ir::min(x, number(20, x)));
  const Expr w = n * (n + number(2, x));
  return x * (w / (w + number(2, x)));
}

Expr gelu_of(const Expr& x) {
  const Expr inner = call(Intrinsic::Erf, x * number(std::numbers::sqrt2 / 2, x));
  return x * number(0.5, x) * (number(1, x) + inner);
}

Expr gelu_tanh_of(const Expr& x) {
  const Expr cube = x * x * x;
  const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
  const Expr inner = call(Intrinsic::Tanh, (x + cube * number(0.044715, x)) * number(factor, x));
  return x * number(0.5, x) * (number(1, x) + inner);
}

Expr ceil_of(const Expr& x) { return negated(call(Intrinsic::Floor, negated(x))); }

Expr sign_of(const Expr& x) {
  const Expr above = ir::binary(ir::BinaryOp::Gt, x, number(0, x));
  if (!ir::is_float(x.type()) && !ir::is_signed(x.type().scalar)) {
    return ir::select(above, number(1, x), x);
  }
  return ir::select(above, number(1, x), ir::select(is_negative(x), number(-1, x), x));
}

}  // namespace tilewright::graph
