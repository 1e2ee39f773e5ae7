// Dot products: LLVM = interpreter = the definition.
#include <gtest/gtest.h>

#include "codegen/dot_testing.h"
#include "codegen/llvm/agreement_testing.h"
#include "target/host_features.h"

namespace tilewright::codegen {
namespace {

struct DotKind {
  ir::Scalar sum;
  Feature feature;
};

class Dots : public ::testing::TestWithParam<DotKind> {
 protected:
  void SetUp() override {
    if (host_features().has(GetParam().feature)) return;
    GTEST_SKIP() << "this CPU has no " << feature_text(GetParam().feature);
  }
};

TEST_P(Dots, EqualTheInterpreter) {
  for (const DotProgram& program : dot_programs(GetParam().sum)) {
    EXPECT_NE(ir::to_string(program.function).find("dot("), std::string::npos)
        << ir::to_string(program.function);
    run_both(program.function, program.arguments, host_target(2), 2);
  }
}

double number_at(ir::Scalar type, const Bytes& bytes, int64_t at) {
  if (type == ir::Scalar::U8) return bytes[static_cast<size_t>(at)];
  if (type == ir::Scalar::I8) return values_of_bytes<int8_t>(bytes)[static_cast<size_t>(at)];
  if (type == ir::Scalar::I32) return values_of_bytes<int32_t>(bytes)[static_cast<size_t>(at)];
  return ir::f32_from_bf16(values_of_bytes<uint16_t>(bytes)[static_cast<size_t>(at)]);
}

TEST_P(Dots, EqualTheDefinition) {
  const DotProgram program = dot_matmul(GetParam().sum);
  const std::vector<Bytes> results = run_both(program.function, program.arguments, host_target(2));
  ASSERT_EQ(results.size(), 3u);
  const auto number = [&](size_t argument, int64_t at) {
    const ir::BufferId id = program.function.arguments[argument];
    return number_at(program.function.buffers[id].element.scalar, results[argument], at);
  };
  for (int64_t i = 0; i < kDotRows; ++i) {
    for (int64_t j = 0; j < kDotColumns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kDotDepth; ++k) {
        sum += number(0, i * kDotDepth + k) * number(1, k * kDotColumns + j);
      }
      ASSERT_EQ(number(2, i * kDotColumns + j), sum) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Dots,
                         ::testing::Values(DotKind{ir::Scalar::I32, Feature::Avx512vnni},
                                           DotKind{ir::Scalar::F32, Feature::Avx512bf16}),
                         [](const auto& test) {
                           return std::string(feature_text(test.param.feature));
                         });

TEST(DotInstructions, RequireTheTargetFeature) {
  const DotProgram program = dot_programs(ir::Scalar::I32)[0];
  const auto object = compile_llvm(program.function, *parse_target("x86-64-v4;threads=1"));
  ASSERT_FALSE(object.has_value());
  EXPECT_NE(object.error().message.find(
                "the intrinsic vnni_dot_u8i8 needs the CPU feature avx512vnni, which the target"),
            std::string::npos)
      << object.error().message;
}

}  // namespace
}  // namespace tilewright::codegen
