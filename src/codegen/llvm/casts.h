// Casts between the types of the loop IR, and between values and their form in memory.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/types.h"

namespace tilewright::codegen {

class Casts {
 public:
  Casts(llvm::IRBuilder<>& builder, const Types& types) : builder_(builder), types_(types) {}

  Value cast(Value value, ir::Type from, ir::Scalar to);
  Value from_memory(Value value, ir::Type type);
  Value to_memory(Value value, ir::Type type);

 private:
  Value float_to_f32_or_f64(Value value, ir::Scalar from, unsigned lanes);
  Value integer_to_float(Value value, ir::Type from, ir::Scalar to);
  Value narrow_float(Value value, ir::Scalar from, ir::Scalar to);
  Value f32_rounded_to_odd(Value f64);

  llvm::IRBuilder<>& builder_;
  const Types& types_;
};

}  // namespace tilewright::codegen
