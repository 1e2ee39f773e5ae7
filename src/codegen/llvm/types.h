// LLVM types for the types of the loop IR. F16 and BF16 are i16, Bool is i1; in memory Bool is a
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
  llvm::Type* same_lanes(llvm::Type* element, Value like) const;  // with as many lanes as `like`

 private:
  llvm::LLVMContext& context_;
};

inline Value number(llvm::Type* type, double value) { return llvm::ConstantFP::get(type, value); }
inline Value integer(llvm::Type* type, int64_t value) {
  return llvm::ConstantInt::getSigned(type, value);
}

}  // namespace tilewright::codegen
