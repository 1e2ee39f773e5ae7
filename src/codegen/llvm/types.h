// The LLVM types of the loop IR. F16 and BF16 are held as i16, Bool as i1; in memory Bool is a
// byte.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Value.h>

#include <cstdint>

#include "ir/type.h"

namespace tilewright::codegen {

using Value = llvm::Value*;

class Types {
 public:
  explicit Types(llvm::LLVMContext& context) : context_(context) {}

  llvm::Type* scalar_type(ir::Scalar scalar) const;
  llvm::Type* value_type(ir::Type type) const;
  llvm::Type* memory_type(ir::Type type) const;
  llvm::Type* same_lanes(llvm::Type* element, Value like) const;  // as many as `like` has

 private:
  llvm::LLVMContext& context_;
};

inline Value number(llvm::Type* type, double value) { return llvm::ConstantFP::get(type, value); }
inline Value integer(llvm::Type* type, int64_t value) {
  return llvm::ConstantInt::getSigned(type, value);
}

}  // namespace tilewright::codegen
