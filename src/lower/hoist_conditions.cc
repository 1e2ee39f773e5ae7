#include "lower/hoist_conditions.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/loop_cut.h"
#include "lower/specialize.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::ForKind;
using ir::Stmt;

constexpr int64_t kBudget = 512;  // statements that copies may add
constexpr int64_t kSmall = 32;    // a loop with at most this many iterations may be split anywhere
constexpr int64_t kEnoughTrips = 64;  // trips of inner loops that pay for a test around them
constexpr int64_t kTripsForAccumulators = 4;  // accumulators leave registers at a test
constexpr int64_t kVectorsWorthACut = 4;

Expr negation_of(const Expr& condition) {
  return arith::simplify(ir::call(ir::Intrinsic::Not, {condition}));
}

void note_bounds(const ir::For& loop, arith::Bounds& bounds) {
  const int64_t* extent = ir::as_int(loop.extent);
  if (extent != nullptr && *extent > 0) bounds[loop.var.as<ir::Var>()->id] = {0, *extent - 1};
}

void note_bounds(const ir::Let& let, arith::Bounds& bounds) {
  if (let.value.type() != ir::kIndex) return;
  const auto range = arith::interval_of(let.value, bounds);
  if (range) bounds[let.var.as<ir::Var>()->id] = *range;
}

// Determines whether a loop may be copied, and whether a test may be placed around it.
class NestFacts : public ir::Visitor {
 public:
  explicit NestFacts(arith::Bounds outer) : bounds(std::move(outer)) {}

  bool has_parallel = false;
  arith::Bounds bounds;  // of the variables bound around and inside

  // True if it loads a buffer that it stores to.
  bool accumulates() const {
    return std::ranges::any_of(stored_, [&](ir::BufferId id) { return loaded_.contains(id); });
  }

  void visit(const Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) loaded_.insert(load->buffer);
    ir::Visitor::visit(expr);
  }
  void visit(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<ir::For>()) {
      has_parallel = has_parallel || loop->is_parallel();
      note_bounds(*loop, bounds);
    } else if (const auto* let = stmt.as<ir::Let>()) {
      note_bounds(*let, bounds);
    } else if (const auto* store = stmt.as<ir::Store>()) {
      stored_.insert(store->buffer);
    }
    ir::Visitor::visit(stmt);
  }

 private:
  std::unordered_set<ir::BufferId> loaded_, stored_;
};

// Statements after unrolling and vectorization.
class Weigher : public ir::Visitor {
 public:
  explicit Weigher(int64_t lanes) : lanes_(lanes) {}
  int64_t weight = 0;

  void visit(const Expr&) override {}
  void visit(const Stmt& stmt) override {
    if (stmt.as<ir::Store>() != nullptr) weight += copies_;
    const int64_t outer = copies_;
    if (const auto* loop = stmt.as<ir::For>()) copies_ *= copies_of(*loop);
    ir::Visitor::visit(stmt);
    copies_ = outer;
  }

 private:
  int64_t copies_of(const ir::For& loop) const {
    const int64_t* extent = ir::as_int(loop.extent);
    if (extent == nullptr || *extent < 1) return 1;
    if (loop.loop_kind == ForKind::Unrolled) return *extent;
    return loop.loop_kind == ForKind::Vectorized ? std::max<int64_t>(1, *extent / lanes_) : 1;
  }

  const int64_t lanes_;
  int64_t copies_ = 1;
};

// Unrolls Unrolled loops whose variable a condition uses: each copy is decided separately.
class Unroller : public ir::Rewriter {
 public:
  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* let = stmt.as<ir::Let>()) note_bounds(*let, bounds_);
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr) return rewrite_children(stmt);
    note_bounds(*loop, bounds_);
    const int64_t* extent = ir::as_int(loop->extent);
    if (loop->loop_kind != ForKind::Unrolled || extent == nullptr || !decides(*loop)) {
      return rewrite_children(stmt);
    }
    std::vector<Stmt> copies;
    for (int64_t k = 0; k < *extent; ++k) {
      Assumptions assumptions{.bounds = bounds_};
      assumptions.values[loop->var.as<ir::Var>()->id] = ir::int_imm(k);
      const Stmt copy = specialize(loop->body, assumptions);
      if (copy.defined()) copies.push_back(rewrite(copy));
    }
    return ir::make_block(std::move(copies));
  }

 private:
  static bool decides(const ir::For& loop) {
    return std::ranges::any_of(condition_uses(loop),
                               [](const ConditionUse& use) { return !use.own.empty(); });
  }

  arith::Bounds bounds_;
};

class ConditionHoister : public ir::Rewriter {
 public:
  explicit ConditionHoister(int64_t lanes) : lanes_(lanes) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<ir::For>()) return rewrite_loop(stmt, *loop);
    if (const auto* let = stmt.as<ir::Let>()) note_bounds(*let, bounds_);
    const auto* node = stmt.as<ir::If>();
    if (node == nullptr) return rewrite_children(stmt);
    return branch(node->condition, node->then_body, node->else_body);
  }

 private:
  Stmt rewrite_loop(const Stmt& stmt, const ir::For& loop) {
    if (!has_conditions(loop.body)) return stmt;
    note_bounds(loop, bounds_);
    NestFacts facts(bounds_);
    facts.visit(stmt);
    if (!facts.has_parallel) {
      const std::vector<ConditionUse> uses = condition_uses(loop);
      const std::optional<LoopCut> core = core_of(loop, uses, facts);
      if (auto result = unswitched(stmt, groups_to_test(uses, facts, core.has_value()))) {
        return *result;
      }
      if (auto result = core ? split(loop, *core) : std::nullopt) return *result;
    }
    return rewrite_children(stmt);
  }

  // if condition: then_body else: else_body, each rewritten under its assumptions.
  Stmt branch(const Expr& condition, const Stmt& then_body, const Stmt& else_body) {
    Stmt yes = rewrite_under(*this, condition, true, then_body, bounds_);
    Stmt no = rewrite_under(*this, condition, false, else_body, bounds_);
    if (yes.defined()) return ir::make_if(condition, std::move(yes), std::move(no));
    if (!no.defined()) return {};
    return ir::make_if(negation_of(condition), std::move(no));
  }

  // With a test of the first of the groups that there is budget for; nothing: there is none.
  std::optional<Stmt> unswitched(const Stmt& loop, const std::vector<std::vector<Expr>>& groups) {
    for (const std::vector<Expr>& group : groups) {
      const auto refused = [this](const Expr& conjunct) { return holds(refused_, conjunct); };
      if (std::ranges::any_of(group, refused)) continue;
      const Expr condition = conjunction_of(group);
      Assumptions taken{.bounds = bounds_, .known = group};
      assume(condition, true, taken.bounds);
      Assumptions other{.bounds = bounds_, .failed = group};
      if (group.size() == 1) other.known = {negation_of(condition)};
      assume(condition, false, other.bounds);
      const Stmt yes = specialize(loop, taken), no = specialize(loop, other);
      if (affords(weight(yes) + weight(no) - weight(loop))) return branch(condition, yes, no);
      refused_.insert(refused_.end(), group.begin(), group.end());
    }
    return {};
  }

  // Conjunctions that are worth a test around the loop, shortest first, because others contain
  // them. One that would otherwise be tested in every part of a split inner loop is tested here.
  static std::vector<std::vector<Expr>> groups_to_test(const std::vector<ConditionUse>& uses,
                                                       const NestFacts& facts, bool will_split) {
    std::vector<std::vector<Expr>> groups;
    const bool accumulates = facts.accumulates();
    for (const ConditionUse& use : uses) {
      if (use.invariant.empty()) continue;
      if (use.inner_trips >= kEnoughTrips && !use.is_if && !will_split) continue;
      if (accumulates && use.trips < kTripsForAccumulators) continue;
      const auto larger =
          std::ranges::upper_bound(groups, use.invariant.size(), {}, &std::vector<Expr>::size);
      groups.insert(larger, use.invariant);
    }
    return groups;
  }

  // The iterations to split off, in which conditions are decided throughout.
  std::optional<LoopCut> core_of(const ir::For& loop, const std::vector<ConditionUse>& uses,
                                 const NestFacts& facts) const {
    const int64_t* extent = ir::as_int(loop.extent);
    if (extent == nullptr) return {};
    const std::vector<LoopCut> cuts = cuts_of(loop, *extent, uses, facts);
    if (cuts.empty()) return {};
    LoopCut core = longest_between(cuts, *extent);
    if (loop.loop_kind == ForKind::Vectorized) {
      core.begin = (core.begin + lanes_ - 1) / lanes_ * lanes_;
      if (core.end < *extent) core.end = core.end / lanes_ * lanes_;
      if (core.end - core.begin < kVectorsWorthACut * lanes_) return {};
    }
    const bool covers_most = 2 * (core.end - core.begin) >= *extent;
    const bool decides_all = cuts.size() <= 2 && std::ranges::all_of(cuts, &LoopCut::is_exact);
    return covers_most || decides_all ? std::optional(core) : std::nullopt;
  }

  std::optional<Stmt> split(const ir::For& loop, const LoopCut& core) {
    const int64_t* extent = ir::as_int(loop.extent);
    std::vector<Stmt> pieces = {piece(loop, 0, core.begin), piece(loop, core.begin, core.end),
                                piece(loop, core.end, *extent)};
    std::erase_if(pieces, [](const Stmt& one) { return !one.defined(); });
    int64_t growth = -weight(loop.body);
    for (const Stmt& one : pieces) growth += weight(one);
    if (!affords(growth)) return {};
    for (Stmt& one : pieces) one = rewrite(one);
    return ir::make_block(std::move(pieces));
  }

  // The cuts of the conditions that are not better tested in an inner loop.
  std::vector<LoopCut> cuts_of(const ir::For& loop, int64_t extent,
                               const std::vector<ConditionUse>& uses,
                               const NestFacts& facts) const {
    const bool small = weight(loop.body) <= kSmall;
    std::vector<LoopCut> cuts;
    for (const ConditionUse& use : uses) {
      for (const ConditionUse::Own& own : use.own) {
        const auto cut = cut_of(own.conjunct, loop.var.as<ir::Var>()->id, extent, facts.bounds);
        if (!cut) continue;
        const int64_t trips_that_pay = small ? kEnoughTrips : kTripsForAccumulators;
        if (!cut->is_exact() && !use.is_if && own.trips >= trips_that_pay) continue;
        const auto same = [&](const LoopCut& known) {
          return known.begin == cut->begin && known.end == cut->end;
        };
        if (std::ranges::none_of(cuts, same)) cuts.push_back(*cut);
      }
    }
    return cuts;
  }

  // The iterations from `begin` to `end`.
  Stmt piece(const ir::For& loop, int64_t begin, int64_t end) const {
    if (begin >= end) return {};
    const auto* old = loop.var.as<ir::Var>();
    Assumptions assumptions{.bounds = bounds_};
    if (end - begin == 1) {
      assumptions.values[old->id] = ir::int_imm(begin);
      return specialize(loop.body, assumptions);
    }
    const Expr var(new ir::Var(old->type, ir::fresh_var_id(), old->name));
    assumptions.values[old->id] = begin == 0 ? var : var + begin;
    assumptions.bounds[var.as<ir::Var>()->id] = {0, end - begin - 1};
    Stmt body = specialize(loop.body, assumptions);
    if (!body.defined()) return {};
    return ir::make_for_like(loop, var, ir::int_imm(end - begin), std::move(body));
  }

  bool affords(int64_t growth) {
    if (growth > budget_) return false;
    budget_ -= std::max<int64_t>(growth, 0);
    return true;
  }

  int64_t weight(const Stmt& stmt) const {
    Weigher weigher(lanes_);
    if (stmt.defined()) weigher.visit(stmt);
    return weigher.weight;
  }

  const int64_t lanes_;        // for 4-byte elements
  arith::Bounds bounds_;       // of the variables bound around
  std::vector<Expr> refused_;  // conjuncts rejected by the budget
  int64_t budget_ = kBudget;
};

}  // namespace

void hoist_conditions(ir::Function& function, const PassContext& context) {
  if (!has_conditions(function.body)) return;
  Stmt body = specialize(function.body, {});
  if (body.defined()) body = Unroller().rewrite(body);
  if (body.defined()) body = ConditionHoister(context.target.lanes(4)).rewrite(body);
  if (!ir::equal(body, function.body)) function.body = body;
}

}  // namespace tilewright::lower
