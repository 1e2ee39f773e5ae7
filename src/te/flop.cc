#include "te/flop.h"

#include <algorithm>

#include "te/iterations.h"

namespace tilewright::te {
namespace {

// Counts nodes of any float type for float accumulators, else of exactly the scalar type, so that
// I64 index arithmetic in a condition does not count.
class Counter {
 public:
  explicit Counter(ir::Scalar sort) : sort_(sort) {}

  double count(const ir::Expr& expr) const {
    switch (expr.kind()) {
      case ir::ExprKind::Binary: {
        const auto* node = expr.as<ir::Binary>();
        return one(expr) + count(node->a) + count(node->b);
      }
      case ir::ExprKind::Fma: {
        const auto* node = expr.as<ir::Fma>();
        return 2 * one(expr) + count(node->a) + count(node->b) + count(node->c);
      }
      case ir::ExprKind::Call: {
        double total = one(expr);
        for (const ir::Expr& arg : expr.as<ir::Call>()->args) total += count(arg);
        return total;
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        return count(node->condition) + std::max(count(node->if_true), count(node->if_false));
      }
      case ir::ExprKind::Cast:
        return count(expr.as<ir::Cast>()->value);
      default:
        return 0;
    }
  }

 private:
  double one(const ir::Expr& expr) const {
    const ir::Scalar scalar = expr.type().scalar;
    return ir::is_float(sort_) ? ir::is_float(scalar) : scalar == sort_;
  }
  ir::Scalar sort_;
};

}  // namespace

double count_flop(const Op& op) {
  if (op.flop_override) return *op.flop_override;
  if (op.kind != OpKind::Compute) return 0;
  double each = 0;
  for (size_t k = 0; k < op.body.size(); ++k) {
    const Counter counter(op.body[k].type().scalar);
    each += counter.count(op.body[k]);
    if (op.reduction) each += counter.count(op.reduction->combine[k]);
  }
  return each * trip_count(op);
}

}  // namespace tilewright::te
