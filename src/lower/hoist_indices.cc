#include "lower/hoist_indices.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/visit.h"
#include "lower/bindings.h"
#include "lower/linear_index.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

// The body of a For or of a Let of an integer: bindings there are known from its top on.
struct BindingScope {
  std::string name;  // of the variable
  Bindings bindings;
  std::vector<std::pair<LinearIndex, Expr>> sums;  // sum -> the variable that holds it
};

class IndexHoister : public ir::Rewriter {
 public:
  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<ir::Load>();
    if (load == nullptr) return rewrite_children(expr);
    Expr index = hoisted(load->indices[0]);
    if (index.same_as(load->indices[0])) return expr;
    return ir::load(load->type, load->buffer, {std::move(index)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    switch (stmt.kind()) {
      case ir::StmtKind::For: {
        const auto* loop = stmt.as<ir::For>();
        Stmt body = rewrite_level(loop->var, loop->body);
        if (body.same_as(loop->body)) return stmt;
        return ir::make_for_like(*loop, loop->var, loop->extent, std::move(body));
      }
      case ir::StmtKind::Let: {
        const auto* let = stmt.as<ir::Let>();
        Expr value = rewrite(let->value);
        Stmt body =
            let->var.type() == ir::kIndex ? rewrite_level(let->var, let->body) : rewrite(let->body);
        if (value.same_as(let->value) && body.same_as(let->body)) return stmt;
        return ir::make_let(let->var, std::move(value), std::move(body));
      }
      case ir::StmtKind::Store: {
        const auto* store = stmt.as<ir::Store>();
        Expr index = hoisted(store->indices[0]);
        Expr value = rewrite(store->value);
        Expr predicate = rewrite_optional(store->predicate);
        if (index.same_as(store->indices[0]) && value.same_as(store->value) &&
            predicate.same_as(store->predicate)) {
          return stmt;
        }
        return ir::make_store(store->buffer, {std::move(index)}, std::move(value),
                              std::move(predicate), store->stream);
      }
      case ir::StmtKind::Transpose: {
        const auto* node = stmt.as<ir::Transpose>();
        Expr to = hoisted(node->to.index), from = hoisted(node->from.index);
        if (to.same_as(node->to.index) && from.same_as(node->from.index)) return stmt;
        return ir::make_transpose({node->to.buffer, std::move(to), node->to.stride},
                                  {node->from.buffer, std::move(from), node->from.stride},
                                  node->size);
      }
      case ir::StmtKind::Prefetch: {
        const auto* prefetch = stmt.as<ir::Prefetch>();
        Expr index = hoisted(prefetch->indices[0]);
        if (index.same_as(prefetch->indices[0])) return stmt;
        return ir::make_prefetch(prefetch->buffer, {std::move(index)});
      }
      default:
        return rewrite_children(stmt);
    }
  }

 private:
  Stmt rewrite_level(const Expr& var, const Stmt& body) {
    const auto* node = var.as<ir::Var>();
    level_of_[node->id] = levels_.size();
    levels_.push_back({node->name.text() + ".p", {}, {}});
    Stmt result = rewrite(body);
    result = levels_.back().bindings.wrap(std::move(result));
    levels_.pop_back();
    return result;
  }

  Expr hoisted(const Expr& index) {
    if (index.as<ir::IntImm>() != nullptr || index.as<ir::Var>() != nullptr) return index;
    if (const auto* ramp = index.as<ir::Ramp>()) {
      Expr base = hoisted(ramp->base);
      if (base.same_as(ramp->base)) return index;
      return ir::ramp(std::move(base), ramp->stride, index.type().lanes);
    }
    if (index.type().is_vector()) return index;
    return split(linear_of(index), index);
  }

  // The outermost level at which all variables of an expression are known; -1: no loop is needed.
  // False if it cannot be moved.
  bool find_level(const Expr& expr, int& level) const {
    if (const auto* var = expr.as<ir::Var>()) {
      const auto found = level_of_.find(var->id);
      if (found == level_of_.end()) return false;
      level = std::max(level, static_cast<int>(found->second));
      return true;
    }
    if (expr.as<ir::Load>() != nullptr) return false;
    if (const auto* node = expr.as<ir::Binary>()) {
      const bool divides = node->op == BinaryOp::Div || node->op == BinaryOp::Mod;
      if (divides && ir::as_int(node->b) == nullptr) return false;  // it might be 0 there
    }
    bool known = true;
    ir::for_each_child(expr, [&](const Expr& child) { known = known && find_level(child, level); });
    return known;
  }

  struct Placed {
    int level;
    IndexTerm term;
  };

  Expr split(const LinearIndex& index, const Expr& original) {
    std::vector<Placed> placed;
    placed.reserve(index.terms.size());
    for (const IndexTerm& term : index.terms) {
      int level = -1;
      if (!find_level(term.atom, level)) return original;
      // By level, in the order of the index where levels are equal.
      placed.insert(std::ranges::upper_bound(placed, level, {}, &Placed::level), {level, term});
    }
    if (placed.empty()) return original;
    const int innermost = static_cast<int>(levels_.size()) - 1;
    // Known outside the innermost loop; of that loop. Terms are in order of level, not of variable.
    LinearIndex prefix, own;
    for (size_t k = 0; k < placed.size(); ++k) {
      const auto& [level, term] = placed[k];
      if (level == innermost) {
        // The loop's own term is separate, so that accesses with other prefixes can share it.
        LinearIndex single;
        single.add_term(term);
        own.add_term(name(level, std::move(single)), 1);
        continue;
      }
      prefix.terms.push_back(term);
      const bool last_of_level = k + 1 == placed.size() || placed[k + 1].level != level;
      if (!last_of_level) continue;
      const Expr held = name(level, std::exchange(prefix, {}));
      prefix.add_term(held, 1);
    }
    std::ranges::copy(own.terms, std::back_inserter(prefix.terms));
    prefix.constant = index.constant;
    return to_expr(prefix);
  }

  // The variable that holds a sum at a level; a plain variable is used directly.
  Expr name(int level, LinearIndex sum) {
    if (sum.terms.size() == 1 && sum.terms[0].var != 0 && sum.terms[0].coefficient == 1) {
      return sum.terms[0].atom;
    }
    if (level < 0) return to_expr(sum);
    BindingScope& scope = levels_[static_cast<size_t>(level)];
    for (const auto& [known, held] : scope.sums) {
      if (same_terms(known, sum)) return held;
    }
    const size_t ordinal = scope.sums.size();
    Expr held = scope.bindings.bind(
        ordinal == 0 ? scope.name : scope.name + std::to_string(ordinal), to_expr(sum));
    scope.sums.emplace_back(std::move(sum), held);
    return held;
  }

  std::vector<BindingScope> levels_;  // outermost first
  std::unordered_map<ir::VarId, size_t> level_of_;
};

}  // namespace

void hoist_indices(ir::Function& function, const PassContext&) {
  function.body = IndexHoister().rewrite(function.body);
}

}  // namespace tilewright::lower
