#include "lower/loop_binder.h"

#include "base/check.h"
#include "schedule/numbers.h"

namespace tilewright::lower {

using ir::Expr;
using ir::Stmt;
using schedule::kNone;
using schedule::LoopVar;
using schedule::Tail;
using schedule::VarIndex;
using schedule::VarOrigin;

Expr LoopBinder::name(VarIndex index) {
  const LoopVar& var = values_.live().var(index);
  Expr variable = values_.new_variable(var.name.text(), var.extent);
  if (bindings_ != nullptr) bindings_->push_back({index, variable.as<ir::Var>()->id});
  return variable;
}

Stmt LoopBinder::bind(VarIndex index, const Expr& value, const std::function<Stmt()>& inside) {
  values_.set_value(index, value);
  const LoopVar var = values_.live().var(index);
  Stmt result;
  if (var.origin == VarOrigin::Fused) {
    result = bind_members(var.first_member, value, inside);
  } else if (var.origin == VarOrigin::Part) {
    result = resolve_part(index, inside);
  } else {
    result = inside();
  }
  values_.set_value(index, Expr());
  return result;
}

// a = f / divisor mod extent, bound by a Let, for each member in turn.
Stmt LoopBinder::bind_members(VarIndex member, const Expr& fused,
                              const std::function<Stmt()>& inside) {
  if (member == kNone) return inside();
  const LoopVar var = values_.live().var(member);
  const auto next = [&] { return bind_members(var.next_member, fused, inside); };
  if (var.extent == 1) return bind(member, ir::int_imm(0), next);
  const bool outermost = values_.live().var(var.fused_into).first_member == member;
  Expr value = var.divisor == 1 ? fused : fused / var.divisor;
  if (!outermost) value = value % var.extent;
  const Expr variable = name(member);
  return ir::make_let(variable, values_.simplified(value), bind(member, variable, next));
}

// Continues inside, with the split variable bound too if it is known by now.
Stmt LoopBinder::bind_whole(VarIndex whole, const std::function<Stmt()>& inside) {
  const LoopVar& var = values_.live().var(whole);
  if (var.origin == VarOrigin::Axis && var.fused_into == kNone) return inside();
  if (values_.value(whole).defined()) return inside();
  const Expr value = values_.local_value(whole);
  if (!value.defined()) return inside();
  return bind(whole, values_.simplified(value), inside);
}

// The inside of one branch, with the numbers of that branch.
Stmt LoopBinder::with_rest(const LoopVar& part, const Rest& inner, bool has_remainder,
                           const std::function<Stmt()>& inside) {
  LoopVar& split = values_.live().var(part.parent);
  const LoopVar whole = split;
  split.rest = inner.count;
  split.valid = inner.valid;
  split.shift = whole.shift + inner.shift;
  split.resolved = static_cast<uint8_t>(part.part + 1);
  const int64_t before = recomputed_;
  if (inner.count != part.stride || has_remainder) recompute();
  Stmt stmt = bind_whole(part.parent, inside);
  LoopVar& restored = values_.live().var(part.parent);
  restored.rest = whole.rest;
  restored.valid = whole.valid;
  restored.shift = whole.shift;
  restored.resolved = whole.resolved;
  if (recomputed_ != before) recompute();  // numbers computed further in are not valid here
  return stmt;
}

Stmt LoopBinder::resolve_part(VarIndex index, const std::function<Stmt()>& inside) {
  const LoopVar part = values_.live().var(index);
  const LoopVar whole = values_.live().var(part.parent);
  const bool last = part.part + 1 == whole.parts;
  if (last || whole.unordered || whole.resolved != part.part) {
    return bind_whole(part.parent, inside);
  }
  const int64_t rest = whole.resolved > 0 ? whole.rest : whole.extent;
  const int64_t full = rest / part.stride;  // values of this part with all inner values
  const int64_t left = rest % part.stride;
  const Rest tile{.count = part.stride};
  if (left == 0) return with_rest(part, tile, false, inside);
  const Rest final_tile = last_tile(whole, part, full, left);
  if (full == 0) return with_rest(part, final_tile, true, inside);
  const Expr value = values_.simplified(values_.local_value(index));
  Stmt full_tiles = with_rest(part, tile, true, inside);
  Stmt tail = with_rest(part, final_tile, true, inside);
  return ir::make_if(value < full, std::move(full_tiles), std::move(tail));
}

// The last value of an outer part, after `full` complete ones, with `left` inner values. Padding is
// applied at the innermost tile, so that regions stay tight.
LoopBinder::Rest LoopBinder::last_tile(const LoopVar& whole, const LoopVar& part, int64_t full,
                                       int64_t left) const {
  const auto innermost_outer = static_cast<VarIndex>(whole.first_part + whole.parts - 2);
  const int64_t tile = values_.live().var(innermost_outer).stride;
  if (left % tile == 0) return {.count = left};
  const int64_t covered = (left / tile + 1) * tile;
  const Tail tail = schedule::tail_of(whole);
  if (tail == Tail::Overlap && full > 0) return {.count = covered, .shift = left - covered};
  if (tail == Tail::Pad && part.part + 2 == whole.parts) return {.count = covered, .valid = left};
  return {.count = left};
}

void LoopBinder::recompute() {
  ++recomputed_;
  const schedule::Illegal illegal = schedule::compute_numbers(trace_, &values_.live());
  CHECK(!illegal, "a legal schedule became illegal in its tail: {}",
        static_cast<int>(illegal.code));
}

}  // namespace tilewright::lower
