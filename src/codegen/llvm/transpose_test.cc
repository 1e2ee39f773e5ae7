// Squares transposed in registers: LLVM = interpreter = the definition.
#include <gtest/gtest.h>

#include "codegen/llvm/agreement_testing.h"
#include "codegen/transpose_testing.h"

namespace tilewright::codegen {
namespace {

// Numbers that tell the elements apart.
std::vector<Bytes> arguments_of(const TransposeProgram& program) {
  std::vector<uint32_t> in(static_cast<size_t>(program.elements()));
  for (size_t k = 0; k < in.size(); ++k) in[k] = 0x3f000000 + static_cast<uint32_t>(k);
  return {bytes_of_values(in), Bytes(in.size() * sizeof(uint32_t))};
}

TEST(Transpose, EqualsTheInterpreterAndTheDefinition) {
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  for (const TransposeProgram& program : transpose_programs()) {
    for (const Target& target : {host, narrow}) {
      const std::vector<Bytes> results =
          run_both(make_transpose_program(program), arguments_of(program), target, 2);
      ASSERT_EQ(results.size(), 2U);
      const auto in = values_of_bytes<uint32_t>(results[0]);
      const auto out = values_of_bytes<uint32_t>(results[1]);
      for (size_t k = 0; k < in.size(); ++k) {
        const bool copied = static_cast<int64_t>(k) % program.width < program.columns;
        ASSERT_EQ(out[k], copied ? in[k] : 0) << k;
      }
    }
  }
}

TEST(Transpose, LoadsAndStoresWholeRows) {
  std::string llvm_ir;
  const ir::Function function = make_transpose_program({});
  const auto object =
      compile_llvm(function, *parse_target("x86-64-v4;threads=1"), {.llvm_ir = &llvm_ir});
  ASSERT_TRUE(object.has_value()) << object.error().message;
  const auto count = [&](std::string_view text) {
    int found = 0;
    for (size_t at = 0; (at = llvm_ir.find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("load <16 x float>"), 16) << llvm_ir;
  EXPECT_EQ(count("store <16 x float>"), 16) << llvm_ir;
  EXPECT_EQ(count("shufflevector"), 64) << llvm_ir;  // 4 stages
  EXPECT_EQ(count("extractelement"), 0) << llvm_ir;
}

}  // namespace
}  // namespace tilewright::codegen
