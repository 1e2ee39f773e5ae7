#include "lower/vectorize_mask.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

// One lane of a vector as a scalar; null if it is not arithmetic on ramps.
Expr lane_of(const Expr& vector, unsigned lane) {
  if (const auto* node = vector.as<ir::Broadcast>()) return node->value;
  if (const auto* node = vector.as<ir::Ramp>()) {
    return node->base + node->stride * static_cast<int64_t>(lane);
  }
  if (const auto* node = vector.as<ir::Binary>()) {
    Expr a = lane_of(node->a, lane), b = lane_of(node->b, lane);
    if (!a.defined() || !b.defined()) return {};
    return ir::binary(node->op, std::move(a), std::move(b));
  }
  if (const auto* node = vector.as<ir::Call>(); node != nullptr && node->args.size() == 1) {
    Expr a = lane_of(node->args[0], lane);
    const bool plain = a.defined() && node->function != ir::Intrinsic::Bitcast;
    return plain ? ir::call(node->function, {std::move(a)}) : Expr{};
  }
  return {};
}

}  // namespace

MaskLanes lanes_of_mask(const Expr& mask, const arith::Bounds& bounds) {
  const unsigned lanes = mask.type().lanes;
  unsigned hold = 0, fail = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Expr scalar = lanes > 1 ? lane_of(mask, lane) : mask;
    if (!scalar.defined()) return MaskLanes::Unknown;
    const Expr simple = arith::simplify(scalar, bounds);
    const int64_t* known = ir::as_int(simple);
    if (known != nullptr) ++(*known != 0 ? hold : fail);
  }
  if (hold == lanes) return MaskLanes::All;
  if (fail == lanes) return MaskLanes::None;
  return hold > 0 ? MaskLanes::Some : MaskLanes::Unknown;
}

}  // namespace tilewright::lower
