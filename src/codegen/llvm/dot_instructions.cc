#include "codegen/llvm/dot_instructions.h"

#include <fmt/format.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/dot_signature.h"

namespace tilewright::codegen {
namespace {

using enum ir::Scalar;

struct DotInstruction : DotSignature {
  Feature feature;
  llvm::Intrinsic::ID id;  // (sum, a for each lane, b)
};

constexpr DotInstruction kInstructions[] = {
    {{"vnni_dot_u8i8", {I32, 16}, {U8, 4}, {I8, 64}},
     Feature::Avx512vnni,
     llvm::Intrinsic::x86_avx512_vpdpbusd_512},
    {{"avx512_bf16_dot", {F32, 16}, {BF16, 2}, {BF16, 32}, ir::DotRounding::DescendingFlushed},
     Feature::Avx512bf16,
     llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
};

}  // namespace

Result<llvm::Intrinsic::ID> dot_instruction(const ir::Dot& dot, const Target& target) {
  const DotInstruction* row = TRY(find_dot<DotInstruction>(kInstructions, dot));
  if (target.has(row->feature)) return row->id;
  return fail(ErrorKind::Unsupported,
              fmt::format("the intrinsic {} needs the CPU feature {}, which the target {} does not "
                          "have",
                          row->intrinsic, feature_text(row->feature), print_target(target)));
}

}  // namespace tilewright::codegen
