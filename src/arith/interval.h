// Interval arithmetic with unbounded sides: `low` = INT64_MIN means no lower bound is known, `high`
// = INT64_MAX no upper bound.
//
// A result with known bounds that may overflow 64 bits is kEverything. A value without any bounds
// (an I64 variable, used as an index) is assumed not to overflow.
//
//   [0, 9] * 3 + [2, 6] -> [2, 33]        [0, 2^62] * 4 -> everything       [1, ..] + 1 -> [2, ..]
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ir/expr.h"

namespace tilewright::arith {

struct Interval {  // closed
  int64_t low = 0;
  int64_t high = 0;
  bool operator==(const Interval&) const = default;
  bool is_point() const { return low == high; }
};

using Bounds = std::unordered_map<ir::VarId, Interval>;

inline constexpr Interval kEverything{INT64_MIN, INT64_MAX};

inline bool bounded_below(const Interval& x) { return x.low != INT64_MIN; }
inline bool bounded_above(const Interval& x) { return x.high != INT64_MAX; }
inline bool bounded(const Interval& x) { return bounded_below(x) && bounded_above(x); }
inline bool contains(const Interval& outer, const Interval& inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

// An exact running sum of coefficient * interval.
class IntervalSum {
 public:
  void add(int64_t constant) { low_ += constant, high_ += constant; }
  void add(int64_t coefficient, const Interval& x);
  Interval get() const;
  bool may_wrap() const;  // known bounds, but not within 64 bits

 private:
  __int128 low_ = 0, high_ = 0;
  bool open_below_ = false, open_above_ = false, too_large_ = false;
};

Interval product(const Interval& a, const Interval& b);
Interval floor_div(const Interval& a, const Interval& b);
Interval floor_mod(const Interval& a, const Interval& b);
Interval min(const Interval& a, const Interval& b);
Interval max(const Interval& a, const Interval& b);
Interval hull(const Interval& a, const Interval& b);

Interval interval_of_type(ir::Type type);  // every value of it; kEverything for I64
// The smallest known interval with every value of an integer expression; nothing if it is unbounded
// or may overflow 64 bits.
std::optional<Interval> interval_of(const ir::Expr& expr, const Bounds& bounds);
// The same, but sides may be unbounded.
Interval range_of(const ir::Expr& expr, const Bounds& bounds);

}  // namespace tilewright::arith
