// Dot products: one instruction of the target each.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"

namespace tilewright::codegen {
namespace {

struct DotInstruction {
  std::string_view name;  // of schedule/intrinsics.cc
  ir::Type sum, a, b;
  Feature feature;
  llvm::Intrinsic::ID id;  // (sum, a for each lane, b)
};

constexpr DotInstruction kInstructions[] = {
    {"vnni_dot_u8i8",
     {ir::Scalar::I32, 16},
     {ir::Scalar::U8, 4},
     {ir::Scalar::I8, 64},
     Feature::Avx512vnni,
     llvm::Intrinsic::x86_avx512_vpdpbusd_512},
    {"avx512_bf16_dot",
     {ir::Scalar::F32, 16},
     {ir::Scalar::BF16, 2},
     {ir::Scalar::BF16, 32},
     Feature::Avx512bf16,
     llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
};

}  // namespace

Emitter::Value Emitter::emit_dot(const ir::Dot& dot) {
  const auto* row = std::ranges::find_if(kInstructions, [&](const DotInstruction& instruction) {
    const bool named = dot.intrinsic.empty() || dot.intrinsic.text() == instruction.name;
    return named && dot.rows == 1 && instruction.sum == dot.type && instruction.a == dot.a.type() &&
           instruction.b == dot.b.type() && target_.has(instruction.feature);
  });
  if (row == std::end(kInstructions)) {
    return unsupported("the target has no dot product of " + ir::to_string(dot.a.type()) + " and " +
                       ir::to_string(dot.b.type()));
  }
  if (frame_->mask != nullptr) return unsupported("a dot product in an arm of a vector Select");
  llvm::Function* instruction = llvm::Intrinsic::getDeclaration(&module_, row->id);
  const llvm::FunctionType* type = instruction->getFunctionType();
  Value sum = emit(dot.sum);
  Value word = builder_.CreateBitCast(emit(dot.a), builder_.getInt32Ty());
  Value shared = builder_.CreateVectorSplat(dot.type.lanes, word);
  Value a = builder_.CreateBitCast(shared, type->getParamType(1));
  Value b = builder_.CreateBitCast(emit(dot.b), type->getParamType(2));
  return builder_.CreateCall(instruction, {sum, a, b});
}

}  // namespace tilewright::codegen
