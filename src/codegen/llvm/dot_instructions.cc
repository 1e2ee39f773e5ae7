#include "codegen/llvm/dot_instructions.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <string_view>

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

std::optional<llvm::Intrinsic::ID> dot_instruction(const ir::Dot& dot, const Target& target) {
  const auto* row = std::ranges::find_if(kInstructions, [&](const DotInstruction& instruction) {
    const bool named = dot.intrinsic.empty() || dot.intrinsic.text() == instruction.name;
    return named && dot.rows == 1 && instruction.sum == dot.type && instruction.a == dot.a.type() &&
           instruction.b == dot.b.type() && target.has(instruction.feature);
  });
  if (row == std::end(kInstructions)) return std::nullopt;
  return row->id;
}

}  // namespace tilewright::codegen
