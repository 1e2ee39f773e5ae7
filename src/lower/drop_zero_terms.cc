#include "lower/drop_zero_terms.h"

#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

// The value of a float constant, a Broadcast of one included.
const double* constant_of(const Expr& expr) {
  if (const auto* vector = expr.as<ir::Broadcast>()) return constant_of(vector->value);
  const auto* number = expr.as<ir::FloatImm>();
  return number == nullptr ? nullptr : &number->value;
}

bool is_constant(const Expr& expr, double value) {
  const double* number = constant_of(expr);
  return number != nullptr && *number == value;
}

class ZeroDropper : public ir::Rewriter {
 public:
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
    const auto* block = result.as<ir::Block>();
    if (block == nullptr) return result;
    std::vector<Stmt> kept;
    for (const Stmt& part : block->stmts) {
      if (!stores_what_is_there(part)) kept.push_back(part);
    }
    if (kept.size() == block->stmts.size() || kept.empty()) return result;
    return ir::make_block(std::move(kept));
  }

 private:
  static bool stores_what_is_there(const Stmt& stmt) {
    const auto* store = stmt.as<ir::Store>();
    const auto* load = store == nullptr ? nullptr : store->value.as<ir::Load>();
    if (load == nullptr || load->buffer != store->buffer) return false;
    for (size_t k = 0; k < load->indices.size(); ++k) {
      if (!ir::equal(load->indices[k], store->indices[k])) return false;
    }
    return true;
  }

  static Expr rewrite_fma(const ir::Fma& fma, const Expr& original) {
    for (const auto& [factor, other] : {std::pair{fma.a, fma.b}, std::pair{fma.b, fma.a}}) {
      if (is_constant(factor, 0)) return fma.c;
      if (is_constant(factor, 1)) return is_constant(fma.c, 0) ? other : fma.c + other;
      if (is_constant(factor, -1)) return fma.c - other;
    }
    return original;
  }

  static Expr rewrite_product(const ir::Binary& product, const Expr& original) {
    for (const auto& [factor, other] : {std::pair{product.a, product.b}, {product.b, product.a}}) {
      if (is_constant(factor, 0)) return ir::imm(0, original.type());
      if (is_constant(factor, 1)) return other;
      if (is_constant(factor, -1)) return ir::call(ir::Intrinsic::Neg, {other});
    }
    return original;
  }
};

}  // namespace

void drop_zero_terms(ir::Function& function, const PassContext& context) {
  if (context.licences.winograd) function.body = ZeroDropper().rewrite(function.body);
}

}  // namespace tilewright::lower
