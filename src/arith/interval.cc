#include "arith/interval.h"

#include <algorithm>

#include "ir/fold.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::ExprKind;

namespace {

constexpr __int128 kLow = INT64_MIN, kHigh = INT64_MAX;

// An exact interval as one of 64 bits. A bound at the end of the range counts as unknown.
Interval from_exact(__int128 low, __int128 high) {
  if (low <= kLow || high >= kHigh) return kEverything;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

}  // namespace

void IntervalSum::add(int64_t coefficient, const Interval& x) {
  const bool below = bounded_below(x), above = bounded_above(x);
  open_below_ |= coefficient > 0 ? !below : !above;
  open_above_ |= coefficient > 0 ? !above : !below;
  const __int128 at_low = below ? static_cast<__int128>(coefficient) * x.low : 0;
  const __int128 at_high = above ? static_cast<__int128>(coefficient) * x.high : 0;
  low_ += coefficient > 0 ? at_low : at_high;
  high_ += coefficient > 0 ? at_high : at_low;
  // No bound beyond 2^100 returns to 64 bits.
  constexpr __int128 kFar = static_cast<__int128>(1) << 100;
  if (low_ < -kFar || high_ > kFar) {
    too_large_ = true;
    low_ = high_ = 0;
  }
}

bool IntervalSum::may_wrap() const {
  return too_large_ || (!open_below_ && low_ <= kLow) || (!open_above_ && high_ >= kHigh);
}

Interval IntervalSum::get() const {
  if (may_wrap()) return kEverything;
  Interval result = kEverything;
  if (!open_below_ && low_ < kHigh) result.low = static_cast<int64_t>(low_);
  if (!open_above_ && high_ > kLow) result.high = static_cast<int64_t>(high_);
  return result;
}

Interval product(const Interval& a, const Interval& b) {
  if (a.is_point() || b.is_point()) {
    const Interval& number = a.is_point() ? a : b;
    IntervalSum sum;
    if (number.low == 0) return {0, 0};
    sum.add(number.low, a.is_point() ? b : a);
    return sum.get();
  }
  if (!bounded(a) || !bounded(b)) {
    return a.low >= 0 && b.low >= 0 ? Interval{0, INT64_MAX} : kEverything;
  }
  const auto times = [](int64_t x, int64_t y) { return static_cast<__int128>(x) * y; };
  const auto [low, high] = std::minmax(
      {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
  return from_exact(low, high);
}

Interval floor_div(const Interval& a, const Interval& b) {
  if (b.low < 1) return kEverything;
  // Rounding toward minus infinity is monotonic in a; in b, up or down by the sign of a.
  const bool b_open = !bounded_above(b);
  Interval result = kEverything;
  if (bounded_below(a)) {
    const int64_t by = a.low < 0 ? b.low : b.high;
    result.low = a.low >= 0 && b_open ? 0 : ir::floor_div(a.low, by);
  }
  if (bounded_above(a)) {
    const int64_t by = a.high < 0 ? b.high : b.low;
    result.high = a.high < 0 && b_open ? -1 : ir::floor_div(a.high, by);
  }
  return result;
}

Interval floor_mod(const Interval& a, const Interval& b) {
  if (b.low < 1) return kEverything;
  if (a.low >= 0 && a.high < b.low) return a;
  if (b.is_point() && bounded(a)) {
    const int64_t period = ir::floor_div(a.low, b.low);
    if (period == ir::floor_div(a.high, b.low)) {
      return {ir::floor_mod(a.low, b.low), ir::floor_mod(a.high, b.low)};
    }
  }
  const int64_t high = bounded_above(b) ? b.high - 1 : INT64_MAX;
  return {0, a.low >= 0 ? std::min(high, a.high) : high};
}

Interval min(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
Interval max(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval interval_of_type(ir::Type type) {
  switch (type.scalar) {
    case ir::Scalar::Bool:
      return {0, 1};
    case ir::Scalar::I8:
      return {INT8_MIN, INT8_MAX};
    case ir::Scalar::I16:
      return {INT16_MIN, INT16_MAX};
    case ir::Scalar::I32:
      return {INT32_MIN, INT32_MAX};
    case ir::Scalar::U8:
      return {0, UINT8_MAX};
    case ir::Scalar::U16:
      return {0, UINT16_MAX};
    case ir::Scalar::U32:
      return {0, UINT32_MAX};
    default:
      return kEverything;
  }
}

namespace {

// The interval of the exact result; the caller handles wrapping.
Interval range_of_binary(BinaryOp op, const Interval& a, const Interval& b) {
  IntervalSum sum;
  switch (op) {
    case BinaryOp::Add:
      sum.add(1, a), sum.add(1, b);
      return sum.get();
    case BinaryOp::Sub:
      sum.add(1, a), sum.add(-1, b);
      return sum.get();
    case BinaryOp::Mul:
      return product(a, b);
    case BinaryOp::Div:
      return floor_div(a, b);
    case BinaryOp::Mod:
      return floor_mod(a, b);
    case BinaryOp::Min:
      return min(a, b);
    case BinaryOp::Max:
      return max(a, b);
    case BinaryOp::BitAnd:  // of numbers >= 0 no more bits than either has
      return a.low >= 0 && b.low >= 0 ? Interval{0, std::min(a.high, b.high)} : kEverything;
    case BinaryOp::ShiftRight:
      if (!b.is_point() || b.low < 0 || b.low > 62) return kEverything;
      return floor_div(a, {int64_t{1} << b.low, int64_t{1} << b.low});
    default:
      return kEverything;
  }
}

}  // namespace

Interval range_of(const Expr& expr, const Bounds& bounds) {
  const ir::Type type = expr.type();
  const Interval whole = interval_of_type(type);
  if (ir::is_float(type)) return kEverything;
  const auto within_type = [&](const Interval& x) { return contains(whole, x) ? x : whole; };
  switch (expr.kind()) {
    case ExprKind::IntImm: {
      const int64_t value = expr.as<ir::IntImm>()->value;
      return {value, value};
    }
    case ExprKind::Var: {
      const auto found = bounds.find(expr.as<ir::Var>()->id);
      return found == bounds.end() ? whole : found->second;
    }
    case ExprKind::Cast: {
      const Expr& value = expr.as<ir::Cast>()->value;
      if (ir::is_float(value.type()) || ir::is_bool(type)) return whole;
      return within_type(range_of(value, bounds));
    }
    case ExprKind::Binary: {
      const auto* n = expr.as<ir::Binary>();
      if (ir::is_bool(type)) return whole;
      return within_type(range_of_binary(n->op, range_of(n->a, bounds), range_of(n->b, bounds)));
    }
    case ExprKind::Select: {
      const auto* n = expr.as<ir::Select>();
      return hull(range_of(n->if_true, bounds), range_of(n->if_false, bounds));
    }
    case ExprKind::Ramp: {
      const auto* n = expr.as<ir::Ramp>();
      IntervalSum sum;
      sum.add(1, range_of(n->base, bounds));
      sum.add(n->stride, {0, type.lanes - 1});
      return within_type(sum.get());
    }
    case ExprKind::Broadcast:
      return range_of(expr.as<ir::Broadcast>()->value, bounds);
    case ExprKind::VectorReduce: {
      const auto* n = expr.as<ir::VectorReduce>();
      const bool picks = n->op == BinaryOp::Min || n->op == BinaryOp::Max;
      return picks ? range_of(n->value, bounds) : whole;
    }
    default:
      return whole;
  }
}

std::optional<Interval> interval_of(const Expr& expr, const Bounds& bounds) {
  if (ir::is_float(expr.type())) return std::nullopt;
  const Interval range = range_of(expr, bounds);
  if (!bounded(range)) return std::nullopt;
  return range;
}

}  // namespace tilewright::arith
