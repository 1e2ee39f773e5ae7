#include "codegen/c/dot_helpers.h"

#include "codegen/dot_signature.h"

namespace tilewright::codegen {
namespace {

using enum ir::Scalar;

struct DotHelper : DotSignature {
  std::string_view name;
};

constexpr DotHelper kHelpers[] = {
    {{"vnni_dot_u8i8", {I32, 16}, {U8, 4}, {I8, 64}}, "dot_u8i8"},
    {{"avx512_bf16_dot", {F32, 16}, {BF16, 2}, {BF16, 32}, ir::DotRounding::DescendingFlushed},
     "dot_bf16"},
};

}  // namespace

Result<std::string_view> dot_helper(const ir::Dot& dot) {
  const DotHelper* helper = TRY(find_dot<DotHelper>(kHelpers, dot));
  return helper->name;
}

}  // namespace tilewright::codegen
