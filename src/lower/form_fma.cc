#include "lower/form_fma.h"

#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

const ir::Binary* as_product(const Expr& expr) {
  const auto* node = expr.as<ir::Binary>();
  return node != nullptr && node->op == BinaryOp::Mul ? node : nullptr;
}

Expr negated(const Expr& value) { return ir::call(ir::Intrinsic::Neg, {value}); }

class FmaFormer : public ir::Rewriter {
 public:
  using ir::Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    if (ir::is_integer(expr.type())) return expr;  // nothing to contract in indices
    Expr result = rewrite_children(expr);
    const auto* node = result.as<ir::Binary>();
    if (node == nullptr || !contracts(node->type.scalar)) return result;
    const ir::Binary* left = as_product(node->a);
    const ir::Binary* right = as_product(node->b);
    if (node->op == BinaryOp::Add) {
      if (left != nullptr) return ir::fma(left->a, left->b, node->b);
      if (right != nullptr) return ir::fma(right->a, right->b, node->a);
    }
    if (node->op == BinaryOp::Sub) {
      if (right != nullptr) return ir::fma(negated(right->a), right->b, node->a);
      if (left != nullptr) return ir::fma(left->a, left->b, negated(node->b));
    }
    return result;
  }

 private:
  static bool contracts(ir::Scalar type) {
    return type == ir::Scalar::F32 || type == ir::Scalar::F64;
  }
};

}  // namespace

void form_fma(ir::Function& function, const PassContext& context) {
  if (context.permissions.contract) function.body = FmaFormer().rewrite(function.body);
}

}  // namespace tilewright::lower
