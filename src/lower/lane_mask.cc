#include "lower/lane_mask.h"

#include <algorithm>
#include <utility>

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
  const bool otherwise_zero = ir::equal(node.if_false, ir::imm(0, node.if_false.type()));
  return load != nullptr && otherwise_zero && ir::equal(node.condition, mask) ? load : nullptr;
}

void MaskedVisitor::visit(const Expr& expr) {
  if (const auto* select = expr.as<ir::Select>()) {
    if (const ir::Load* load = load_under(*select, mask_)) {
      for (const Expr& index : load->indices) visit_under({}, index);
      return visit_load(*load, mask_);
    }
  }
  const auto* load = expr.as<ir::Load>();
  const bool mixes_lanes =
      load != nullptr || expr.as<ir::VectorReduce>() != nullptr || expr.as<ir::Dot>() != nullptr;
  const Expr outer = mixes_lanes ? std::exchange(mask_, Expr()) : mask_;
  Visitor::visit(expr);
  mask_ = outer;
  if (load != nullptr) visit_load(*load, {});
}

void MaskedVisitor::visit_under(const Expr& mask, const Expr& expr) {
  const Expr outer = std::exchange(mask_, mask);
  visit(expr);
  mask_ = outer;
}

Expr MaskedVisitor::visit_operands(const ir::Store& store) {
  const Expr mask = active_lanes(store.predicate) ? store.predicate : Expr();
  for (const Expr& index : store.indices) visit(index);
  visit_under(mask, store.value);
  if (store.predicate.defined()) visit(store.predicate);
  return mask;
}

}  // namespace tilewright::lower
