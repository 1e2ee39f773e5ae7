#include "codegen/faults.h"

#include "ir/visit.h"

namespace tilewright::codegen {

bool Faults::may_hoist(const ir::Expr& expr) const {
  if (may_fault(expr) || expr.kind() == ir::ExprKind::Load) return false;
  bool may = true;
  ir::for_each_child(expr, [&](const ir::Expr& child) { may = may && may_hoist(child); });
  return may;
}

bool Faults::may_fault(const ir::Expr& expr) const {
  if (const auto* load = expr.as<ir::Load>()) {
    if (function_.buffers[load->buffer].scope != ir::Scope::Register) return true;
  }
  if (const auto* binary = expr.as<ir::Binary>()) {
    const bool divides = binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Mod;
    if (divides && !ir::is_float(binary->type)) {
      const int64_t* divisor = ir::as_int(binary->b);
      if (divisor == nullptr || *divisor == 0) return true;
    }
  }
  const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1;
  if (const auto known = known_.find(expr.get()); shared && known != known_.end()) {
    return known->second;
  }
  bool may = false;
  ir::for_each_child(expr, [&](const ir::Expr& child) { may = may || may_fault(child); });
  if (shared) known_[expr.get()] = may;
  return may;
}

}  // namespace tilewright::codegen
