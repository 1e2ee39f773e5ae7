#include "codegen/llvm/register_masks.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::Stmt;

bool holds(const std::vector<Expr>& masks, const Expr& mask) {
  return std::ranges::any_of(masks, [&](const Expr& one) { return ir::equal(one, mask); });
}

class MaskFinder : public ir::Visitor {
 public:
  explicit MaskFinder(const ir::Function& function)
      : function_(function), masks_(function.buffers.size()), differ_(function.buffers.size()) {}

  std::vector<bool> run() {
    pass_ = Pass::Stores;
    visit(function_.body);
    pass_ = Pass::Loads;
    if (std::ranges::any_of(masks_, &Expr::defined)) visit(function_.body);
    std::vector<bool> result(masks_.size());
    for (size_t k = 0; k < masks_.size(); ++k) result[k] = masks_[k].defined() && !differ_[k];
    return result;
  }

  void visit(const Stmt& stmt) override {
    const auto* store = stmt.as<ir::Store>();
    seen_.clear();
    if (store == nullptr) return ir::Visitor::visit(stmt);
    if (pass_ == Pass::Stores) return note(*store);
    for (const Expr& index : store->indices) visit(index);
    if (!store->predicate.defined()) return visit(store->value);
    visit(store->predicate);
    visit_under(store->predicate, store->value);
  }

  void visit(const Expr& expr) override {
    if (pass_ == Pass::Stores) return;
    const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1;
    if (shared && !seen_.insert(expr.get()).second) return;
    if (const auto* node = expr.as<ir::Select>(); node != nullptr && expr.type().is_vector()) {
      visit(node->condition);
      visit_under(node->condition, node->if_true);
      return visit(node->if_false);
    }
    if (const auto* load = expr.as<ir::Load>()) {
      const Expr& mask = masks_[load->buffer];
      if (mask.defined() && !holds(observed_, mask)) differ_[load->buffer] = true;
    }
    if (expr.as<ir::VectorReduce>() == nullptr) return ir::Visitor::visit(expr);
    const std::vector<Expr> outer = std::exchange(observed_, {});  // all lanes are used
    auto seen = std::exchange(seen_, {});
    ir::Visitor::visit(expr);
    observed_ = outer;
    seen_ = std::move(seen);
  }

 private:
  enum class Pass { Stores, Loads };

  void note(const ir::Store& store) {
    const bool is_register = function_.buffers[store.buffer].scope == ir::Scope::Register;
    if (!is_register || !store.predicate.defined() || !store.predicate.type().is_vector()) return;
    Expr& mask = masks_[store.buffer];
    if (!mask.defined()) mask = store.predicate;
    differ_[store.buffer] = differ_[store.buffer] || !ir::equal(mask, store.predicate);
  }

  void visit_under(const Expr& mask, const Expr& value) {
    if (holds(observed_, mask)) return visit(value);
    observed_.push_back(mask);
    auto seen = std::exchange(seen_, {});
    visit(value);
    seen_ = std::move(seen);
    observed_.pop_back();
  }

  const ir::Function& function_;
  std::vector<Expr> masks_;   // per BufferId: mask of its predicated stores; null: none
  std::vector<bool> differ_;  // several masks, or a load outside the mask
  Pass pass_ = Pass::Stores;
  std::vector<Expr> observed_;                // masks around the expression
  std::unordered_set<const ir::Node*> seen_;  // shared nodes visited under these masks
};

}  // namespace

std::vector<bool> registers_under_one_mask(const ir::Function& function) {
  if (!function.body.defined()) return std::vector<bool>(function.buffers.size());
  return MaskFinder(function).run();
}

}  // namespace tilewright::codegen
