#include "lower/expand_sigmoid.h"

#include "lower/expand_arithmetic.h"
#include "lower/expand_exp.h"

namespace tilewright::lower {

using ir::Expr;
using ir::Intrinsic;

Expr expand_sigmoid(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type();
  const Expr one = ir::float_imm(1, type);
  const Expr given = bindings.bind("sigmoid_x", x);
  const Expr negative =
      bindings.bind("sigmoid_c", ir::call(Intrinsic::Neg, {ir::call(Intrinsic::Abs, {given})}));
  const Expr c = bindings.bind("sigmoid_c", at_least(negative, lowest_exp_argument(type)));
  const Expr e = bindings.bind("sigmoid_e", expand_clamped_exp(c, bindings));
  return ir::select(given < ir::float_imm(0, type), e, one) / (one + e);
}

}  // namespace tilewright::lower
