#include "lower/expand_rsqrt.h"

namespace tilewright::lower {

ir::Expr expand_rsqrt(const ir::Expr& x, Bindings&) {
  return ir::float_imm(1, x.type()) / ir::call(ir::Intrinsic::Sqrt, {x});
}

}  // namespace tilewright::lower
