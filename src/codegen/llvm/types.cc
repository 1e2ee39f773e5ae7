#include "codegen/llvm/types.h"

namespace tilewright::codegen {

llvm::Type* Types::scalar_type(ir::Scalar scalar) const {
  switch (scalar) {
    case ir::Scalar::Bool:
      return llvm::Type::getInt1Ty(context_);
    case ir::Scalar::I8:
    case ir::Scalar::U8:
      return llvm::Type::getInt8Ty(context_);
    case ir::Scalar::I16:
    case ir::Scalar::U16:
    case ir::Scalar::F16:
    case ir::Scalar::BF16:
      return llvm::Type::getInt16Ty(context_);
    case ir::Scalar::I32:
    case ir::Scalar::U32:
      return llvm::Type::getInt32Ty(context_);
    case ir::Scalar::I64:
      return llvm::Type::getInt64Ty(context_);
    case ir::Scalar::F32:
      return llvm::Type::getFloatTy(context_);
    case ir::Scalar::F64:
      return llvm::Type::getDoubleTy(context_);
  }
  return nullptr;
}

llvm::Type* Types::value_type(ir::Type type) const {
  llvm::Type* element = scalar_type(type.scalar);
  return type.is_vector() ? llvm::FixedVectorType::get(element, type.lanes) : element;
}

llvm::Type* Types::memory_type(ir::Type type) const {
  return ir::is_bool(type) ? value_type({ir::Scalar::U8, type.lanes}) : value_type(type);
}

llvm::Type* Types::same_lanes(llvm::Type* element, Value like) const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element
                           : llvm::FixedVectorType::get(element, vector->getNumElements());
}

}  // namespace tilewright::codegen
