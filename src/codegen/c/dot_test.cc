// Dot products: C = interpreter, by instructions and by the loops for other targets.
#include <gtest/gtest.h>

#include "codegen/c/agreement_testing.h"
#include "codegen/dot_testing.h"

namespace tilewright::codegen {
namespace {

class DotC : public ::testing::TestWithParam<const char*> {};

TEST_P(DotC, EqualTheInterpreter) {
  Programs programs;
  for (const ir::Scalar sum : {ir::Scalar::I32, ir::Scalar::F32}) {
    for (DotProgram& program : dot_programs(sum)) {
      programs.add(std::move(program.function), std::move(program.arguments));
    }
  }
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  for (const Target& target : {host, narrow}) {
    programs.check({.compiler = GetParam(), .flags = {"-O1"}}, target);
    if (IsSkipped() || HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, DotC, ::testing::ValuesIn(kCompilers),
                         [](const auto& test) { return std::string(test.param).substr(0, 3); });

TEST(DotC, InstructionIsGuardedByItsFeatureMacro) {
  const DotProgram program = dot_programs(ir::Scalar::I32)[0];
  const auto source =
      emit_c({&program.function, 1}, *parse_target("x86-64-v4:avx512vnni;threads=1"));
  ASSERT_TRUE(source.has_value()) << source.error().message;
  EXPECT_NE(source->source.find("#if defined(__AVX512VNNI__)\n"
                                "  return (tw_i32x16)_mm512_dpbusd_epi32((__m512i)sum, "
                                "(__m512i)a, (__m512i)b);\n#else\n"),
            std::string::npos)
      << source->source;
  EXPECT_NE(source->source.find("tw_dot_u8i8_i32x16("), std::string::npos);
}

}  // namespace
}  // namespace tilewright::codegen
