#include "arith/simplify_div.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/equal.h"
#include "ir/fold.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

Linear number(int64_t value) {
  Linear form;
  form.constant = value;
  return form;
}

// L = c*Q + R: coefficients of R are below c in magnitude, its constant is in [0, c).
struct Split {
  Linear quotient, rest;
};
Split split_by(const Linear& form, int64_t c) {
  Split split;
  for (const RangedTerm& term : form.terms) {
    split.quotient.add_term(term.atom, term.coefficient / c, term.range);
    split.rest.add_term(term.atom, term.coefficient % c, term.range);
  }
  split.quotient.constant = ir::floor_div(form.constant, c);
  split.rest.constant = ir::floor_mod(form.constant, c);
  return split;
}

// R = g*A + B with g a divisor of c and B in [0, g): the fine digits of a mixed-radix number.
//   4*j + 2*k + l  with  c = 8, l in [0, 1]  ->  g = 2, A = 2*j + k, B = l
struct Radix {
  int64_t g = 1;  // 1: there is no such g
  Linear coarse, fine;
};
Radix find_radix(const Linear& rest, int64_t c) {
  int64_t below = c;  // candidates in descending order
  while (true) {
    int64_t g = 1;
    for (const RangedTerm& term : rest.terms) {
      const int64_t candidate = std::gcd(term.coefficient, c);
      if (candidate < below) g = std::max(g, candidate);
    }
    if (g == 1) return {};
    Radix radix{g, {}, {}};
    for (const RangedTerm& term : rest.terms) {
      const bool divides = term.coefficient % g == 0;
      if (divides) {
        radix.coarse.add_term(term.atom, term.coefficient / g, term.range);
      } else {
        radix.fine.add_term(term.atom, term.coefficient, term.range);
      }
    }
    radix.coarse.constant = ir::floor_div(rest.constant, g);
    radix.fine.constant = ir::floor_mod(rest.constant, g);
    if (contains({0, g - 1}, radix.fine.range())) return radix;
    below = g;
  }
}

// `x / c` or `x % c` with a positive constant c.
struct ByConstant {
  Expr dividend;
  int64_t divisor = 0;  // 0: not of this form
};
ByConstant match(const Expr& expr, BinaryOp op) {
  const auto* n = expr.as<ir::Binary>();  // null for the lane, too
  if (n == nullptr || n->op != op) return {};
  const int64_t* c = ir::as_int(n->b);
  if (c == nullptr || *c <= 0) return {};
  return {n->a, *c};
}

// Whether `atom` is x / c for the x and c of `mod`, or y / (b*c) where x is y / b.
bool is_quotient_of(const ByConstant& mod, const Expr& atom) {
  const ByConstant div = match(atom, BinaryOp::Div);
  if (div.divisor == 0) return false;
  if (div.divisor == mod.divisor && ir::equal(div.dividend, mod.dividend)) return true;
  const ByConstant within = match(mod.dividend, BinaryOp::Div);
  int64_t divisor = 0;
  return within.divisor != 0 && !__builtin_mul_overflow(within.divisor, mod.divisor, &divisor) &&
         div.divisor == divisor && ir::equal(div.dividend, within.dividend);
}

void add_div(Linear dividend, int64_t c, const Expr& like, int64_t times, LinearSource& source,
             Linear& out) {
  while (c != 1 && !dividend.may_wrap()) {
    Split split = split_by(dividend, c);
    if (split.rest.may_wrap()) break;
    out.add(split.quotient, times);
    dividend = std::move(split.rest);
    const Interval quotient = floor_div(dividend.range(), {c, c});
    if (quotient.is_point()) return out.add_constant(quotient.low, times);
    // (x / b + k) / c -> (x + k*b) / (b*c)
    const bool is_one_atom = dividend.terms.size() == 1 && dividend.terms[0].coefficient == 1;
    const ByConstant inner =
        is_one_atom ? match(dividend.terms[0].atom, BinaryOp::Div) : ByConstant{};
    int64_t merged = 0;
    if (inner.divisor != 0 && !__builtin_mul_overflow(c, inner.divisor, &merged)) {
      Linear x = source.linear(inner.dividend);
      x.add_constant(dividend.constant, inner.divisor);
      if (!x.may_wrap()) {
        dividend = std::move(x);
        c = merged;
        continue;
      }
    }
    // (g*A + B) / (g*d) -> A / d,  B in [0, g)
    Radix radix = find_radix(dividend, c);
    if (radix.g == 1) break;
    dividend = std::move(radix.coarse);
    c /= radix.g;
  }
  if (c == 1) return out.add(dividend, times);
  out.exact &= dividend.exact;
  out.add_term(make_binary(BinaryOp::Div, dividend, number(c), like), times,
               floor_div(dividend.range(), {c, c}));
}

// k * (x % m) -> k * x  in a dividend of c, where c divides k*m. Returns whether it did.
bool open_remainder(Linear& dividend, int64_t c, LinearSource& source) {
  for (size_t k = 0; k < dividend.terms.size(); ++k) {
    const int64_t times = dividend.terms[k].coefficient;
    const ByConstant inner = match(dividend.terms[k].atom, BinaryOp::Mod);
    int64_t period = 0;
    if (inner.divisor == 0 || __builtin_mul_overflow(inner.divisor, times, &period) ||
        period % c != 0) {
      continue;
    }
    Linear wider = dividend;
    wider.terms.erase(wider.terms.begin() + static_cast<ptrdiff_t>(k));
    wider.add(source.linear(inner.dividend), times);
    if (wider.may_wrap()) continue;
    dividend = std::move(wider);
    return true;
  }
  return false;
}

void add_mod(Linear dividend, int64_t c, const Expr& like, int64_t times, LinearSource& source,
             Linear& out) {
  while (c != 1 && !dividend.may_wrap()) {
    Split split = split_by(dividend, c);
    if (split.rest.may_wrap()) break;
    dividend = std::move(split.rest);
    const Interval range = dividend.range(), quotient = floor_div(range, {c, c});
    if (quotient.is_point()) {  // all values are in one period
      dividend.add_constant(quotient.low, -c);
      return out.add(dividend, times);
    }
    if (open_remainder(dividend, c, source)) continue;
    // (g*A + B) % (g*d) -> g * (A % d) + B,  B in [0, g)
    Radix radix = find_radix(dividend, c);
    if (radix.g == 1) break;
    out.add(radix.fine, times);
    if (__builtin_mul_overflow(times, radix.g, &times)) out.exact = false;
    dividend = std::move(radix.coarse);
    c /= radix.g;
  }
  if (c == 1) return;  // x % 1 -> 0
  out.exact &= dividend.exact;
  out.add_term(make_binary(BinaryOp::Mod, dividend, number(c), like), times,
               floor_mod(dividend.range(), {c, c}));
}

}  // namespace

void add_quotient(const Expr& like, Linear a, const Linear& b, int64_t times, LinearSource& source,
                  Linear& out) {
  const auto* n = like.as<ir::Binary>();
  const bool is_div = n->op == BinaryOp::Div;
  if (b.is_constant() && b.constant > 0) {
    return is_div ? add_div(std::move(a), b.constant, like, times, source, out)
                  : add_mod(std::move(a), b.constant, like, times, source, out);
  }
  const Interval over = a.range(), under = b.range();
  if (over.low >= 0 && over.high < under.low) {  // 0 <= a < b:  a / b -> 0,  a % b -> a
    return is_div ? void() : out.add(a, times);
  }
  out.add_term(make_binary(n->op, a, b, like), times,
               is_div ? floor_div(over, under) : floor_mod(over, under));
}

bool merge_div_and_mod(Linear& form, LinearSource& source) {
  for (size_t m = 0; m < form.terms.size(); ++m) {
    const int64_t times = form.terms[m].coefficient;
    const ByConstant mod = match(form.terms[m].atom, BinaryOp::Mod);
    int64_t expected = 0;
    if (mod.divisor == 0 || __builtin_mul_overflow(mod.divisor, times, &expected)) continue;
    const auto quotient = std::ranges::find_if(form.terms, [&](const RangedTerm& term) {
      return term.coefficient == expected && is_quotient_of(mod, term.atom);
    });
    if (quotient == form.terms.end()) continue;
    const auto d = static_cast<size_t>(quotient - form.terms.begin());
    form.terms.erase(form.terms.begin() + static_cast<ptrdiff_t>(std::max(m, d)));
    form.terms.erase(form.terms.begin() + static_cast<ptrdiff_t>(std::min(m, d)));
    form.add(source.linear(mod.dividend), times);
    return true;
  }
  return false;
}

}  // namespace tilewright::arith
