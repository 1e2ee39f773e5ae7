#include "lower/lane_mask.h"

#include <algorithm>

#include "ir/equal.h"

namespace tilewright::lower {

using ir::Expr;

Expr prefix_mask(unsigned active, unsigned lanes) {
  return ir::binary(ir::BinaryOp::Lt, ir::ramp(ir::int_imm(0), 1, lanes),
                    ir::broadcast(ir::int_imm(active), lanes));
}

std::optional<unsigned> active_lanes(const Expr& mask) {
  const auto* less = mask.defined() ? mask.as<ir::Binary>() : nullptr;
  if (less == nullptr || less->op != ir::BinaryOp::Lt) return {};
  const auto* ramp = less->a.as<ir::Ramp>();
  const auto* limit = less->b.as<ir::Broadcast>();
  if (ramp == nullptr || limit == nullptr || ramp->stride != 1) return {};
  const int64_t* first = ir::as_int(ramp->base);
  const int64_t* end = ir::as_int(limit->value);
  if (first == nullptr || end == nullptr) return {};
  return static_cast<unsigned>(std::clamp<int64_t>(*end - *first, 0, mask.type().lanes));
}

const ir::Load* load_under(const ir::Select& node, const Expr& mask) {
  if (!mask.defined()) return nullptr;
  const auto* load = node.if_true.as<ir::Load>();
  return load != nullptr && ir::equal(node.condition, mask) ? load : nullptr;
}

}  // namespace tilewright::lower
