// The variables and buffers that a statement uses, in order of first use: the captures of a
// parallel loop.
#pragma once

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/visit.h"

namespace tilewright::codegen {

class Mentions : public ir::Visitor {
 public:
  using Visitor::visit;
  void visit(const ir::Expr& expr) override {
    const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1;
    if (shared && !seen_.insert(expr.get()).second) return;
    if (const auto* var = expr.as<ir::Var>()) add(vars, var->id);
    if (const auto* load = expr.as<ir::Load>()) add(buffers, load->buffer);
    Visitor::visit(expr);
  }
  void visit(const ir::Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>()) add(buffers, store->buffer);
    if (const auto* transpose = stmt.as<ir::Transpose>()) {
      add(buffers, transpose->to.buffer);
      add(buffers, transpose->from.buffer);
    }
    if (const auto* prefetch = stmt.as<ir::Prefetch>()) add(buffers, prefetch->buffer);
    Visitor::visit(stmt);
  }

  bool mentions(ir::BufferId id) const { return std::ranges::count(buffers, id) > 0; }

  std::vector<ir::VarId> vars;
  std::vector<ir::BufferId> buffers;

 private:
  // Without it, a traversal of shared nodes takes exponential time.
  std::unordered_set<const ir::Node*> seen_;

  static void add(std::vector<uint32_t>& list, uint32_t id) {
    if (std::ranges::find(list, id) == list.end()) list.push_back(id);
  }
};

}  // namespace tilewright::codegen
