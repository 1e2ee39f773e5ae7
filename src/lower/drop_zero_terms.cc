#include "lower/drop_zero_terms.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

// The value of a float constant or of a Broadcast of one.
const double* constant_of(const Expr& expr) {
  if (const auto* vector = expr.as<ir::Broadcast>()) return constant_of(vector->value);
  const auto* number = expr.as<ir::FloatImm>();
  return number == nullptr ? nullptr : &number->value;
}

bool is_constant(const Expr& expr, double value) {
  const double* number = constant_of(expr);
  return number != nullptr && *number == value;
}

// A store of the element to itself, or a statement that contains only such stores.
bool does_nothing(const Stmt& stmt) {
  if (!stmt.defined()) return true;
  if (const auto* loop = stmt.as<ir::For>()) return does_nothing(loop->body);
  if (const auto* let = stmt.as<ir::Let>()) return does_nothing(let->body);
  if (const auto* block = stmt.as<ir::Block>())
    return std::ranges::all_of(block->stmts, does_nothing);
  if (const auto* branch = stmt.as<ir::If>()) {
    return does_nothing(branch->then_body) && does_nothing(branch->else_body);
  }
  const auto* store = stmt.as<ir::Store>();
  const auto* load = store == nullptr ? nullptr : store->value.as<ir::Load>();
  if (load == nullptr || load->buffer != store->buffer) return false;
  for (size_t k = 0; k < load->indices.size(); ++k) {
    if (!ir::equal(load->indices[k], store->indices[k])) return false;
  }
  return true;
}

class ZeroDropper : public ir::Rewriter {
 public:
  ZeroDropper(const ir::Function& function, bool any_factor)
      : buffers_(function.buffers), any_factor_(any_factor) {}

  Expr rewrite(const Expr& expr) override {
    if (!ir::is_float(expr.type())) return expr;
    Expr result = rewrite_children(expr);
    if (const auto* fma = result.as<ir::Fma>()) return rewrite_fma(*fma, result);
    const auto* node = result.as<ir::Binary>();
    if (node == nullptr) return result;
    if (node->op == BinaryOp::Mul) return rewrite_product(*node, result);
    if (node->op == BinaryOp::Add && is_constant(node->a, 0)) return node->b;
    if ((node->op == BinaryOp::Add || node->op == BinaryOp::Sub) && is_constant(node->b, 0)) {
      return node->a;
    }
    return result;
  }

  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = rewrite_children(stmt);
    if (const auto* branch = result.as<ir::If>()) return rewrite_branch(*branch, result);
    const auto* block = result.as<ir::Block>();
    if (block == nullptr) return result;
    std::vector<Stmt> kept;
    for (const Stmt& part : block->stmts) {
      if (!does_nothing(part)) kept.push_back(part);
    }
    if (kept.size() == block->stmts.size() || kept.empty()) return result;
    return ir::make_block(std::move(kept));
  }

 private:
  static Stmt rewrite_branch(const ir::If& branch, const Stmt& original) {
    const bool nothing_then = does_nothing(branch.then_body);
    if (branch.else_body.defined() && !nothing_then && does_nothing(branch.else_body)) {
      return ir::make_if(branch.condition, branch.then_body);
    }
    if (!nothing_then || does_nothing(branch.else_body)) return original;
    return ir::make_if(ir::call(ir::Intrinsic::Not, {branch.condition}), branch.else_body);
  }

  // True if 0 times it is 0.
  bool is_finite(const Expr& factor) const {
    if (any_factor_) return true;
    if (const auto* vector = factor.as<ir::Broadcast>()) return is_finite(vector->value);
    const auto* load = factor.as<ir::Load>();
    return load != nullptr && buffers_[load->buffer].finite;
  }

  Expr rewrite_fma(const ir::Fma& fma, const Expr& original) const {
    for (const auto& [factor, other] : {std::pair{fma.a, fma.b}, std::pair{fma.b, fma.a}}) {
      if (is_constant(factor, 0) && is_finite(other)) return fma.c;
      if (!any_factor_) continue;
      if (is_constant(factor, 1)) return is_constant(fma.c, 0) ? other : fma.c + other;
      if (is_constant(factor, -1)) return fma.c - other;
    }
    return original;
  }

  Expr rewrite_product(const ir::Binary& product, const Expr& original) const {
    for (const auto& [factor, other] : {std::pair{product.a, product.b}, {product.b, product.a}}) {
      if (is_constant(factor, 0) && is_finite(other)) return ir::imm(0, original.type());
      if (!any_factor_) continue;
      if (is_constant(factor, 1)) return other;
      if (is_constant(factor, -1)) return ir::call(ir::Intrinsic::Neg, {other});
    }
    return original;
  }

  const std::vector<ir::Buffer>& buffers_;
  bool any_factor_;
};

}  // namespace

void drop_zero_terms(ir::Function& function, const PassContext& context) {
  const bool any_factor = context.permissions.winograd;
  const bool some = std::ranges::any_of(function.buffers, &ir::Buffer::finite);
  if (!any_factor && !(some && context.permissions.reassociate)) return;
  function.body = ZeroDropper(function, any_factor).rewrite(function.body);
}

}  // namespace tilewright::lower
