// Arithmetic on LLVM values: the operators of the loop IR, Ldexp, and folds over lanes. It handles
// values only, never expressions, so its only state is the insertion point.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/types.h"
#include "ir/expr.h"
#include "target/target.h"

namespace tilewright::codegen {

class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilder<>& builder, const Types& types, const Target& target)
      : builder_(builder), types_(types), target_(target) {}

  // All operators except integer division. `type` is that of the operands; `b_is_number`: b is
  // known not to be NaN. Null for Mod on floats, which is undefined.
  Value combine(ir::BinaryOp op, ir::Scalar type, Value a, Value b, bool b_is_number = false);
  // Integer Div and Mod by a constant power of two; null if it is not one.
  Value divide_by_power(ir::BinaryOp op, ir::Scalar type, Value a, const int64_t* divisor);
  // Integer Div and Mod. `constant` is b if it is known, otherwise null. Lanes that `mask` disables
  // divide by 1.
  Value divide(ir::BinaryOp op, ir::Scalar type, Value a, Value b, const int64_t* constant,
               Value mask);
  Value ldexp(ir::Scalar type, Value x, Value n);
  // Folds the lanes of a vector by halves, as defined by ir::VectorReduce.
  Value fold_lanes(ir::BinaryOp op, ir::Scalar type, Value lanes, int count);

 private:
  Value compare(ir::BinaryOp op, ir::Scalar type, Value a, Value b);
  Value min_max(ir::BinaryOp op, ir::Scalar type, Value a, Value b, bool b_is_number);
  // `are_numbers`: no lane is NaN, or the result is not used.
  Value fold_by_halves(ir::BinaryOp op, ir::Scalar type, Value lanes, int count, bool are_numbers);
  Value ldexp_f32(Value x, Value n);
  Value ldexp_f64(Value x, Value n);
  Value scalef(ir::Scalar type, Value x, Value n);

  llvm::IRBuilder<>& builder_;
  const Types& types_;
  const Target& target_;
};

}  // namespace tilewright::codegen
