#include "codegen/c/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tilewright::codegen {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr CType kF32{CBase::F32, 1}, kF32x8{CBase::F32, 8}, kF32x16{CBase::F32, 16};

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Helpers, AHelperIsDefinedOnce) {
  Helpers helpers;
  EXPECT_EQ(helpers.function("max", kF32), "tw_max_f32");
  EXPECT_EQ(helpers.text(),
            "TW_INLINE float tw_max_f32(float a, float b) {\n"
            "  return b != b || b > a ? b : a;\n"
            "}\n");
  const std::string once = helpers.text();
  EXPECT_EQ(helpers.function("max", kF32), "tw_max_f32");
  EXPECT_EQ(helpers.text(), once);
}

TEST(Helpers, DependenciesOfHelpersComeFirst) {
  Helpers helpers;
  helpers.function("max", kF32x8);
  const std::string& text = helpers.text();
  EXPECT_THAT(text, StartsWith("typedef float tw_f32x8 __attribute__((vector_size(32)));\n"));
  EXPECT_LT(text.find("tw_select_f32x8("), text.find("tw_max_f32x8("));
  EXPECT_EQ(count(text, "typedef float tw_f32x8 "), 1U);
}

TEST(Helpers, ReductionsFoldHalves) {
  Helpers helpers;
  EXPECT_EQ(helpers.function("reduce_add", {CBase::F32, 4}), "tw_reduce_add_f32x4");
  EXPECT_THAT(helpers.text(), HasSubstr("return tw_reduce_add_f32x2(tw_add_f32x2("
                                        "__builtin_shufflevector(a, a, 0, 1), "
                                        "__builtin_shufflevector(a, a, 2, 3)));"));
  EXPECT_THAT(helpers.text(), HasSubstr("tw_add_f32(a[0], a[1])"));
}

TEST(Helpers, NativeFormsFitTheRegister) {
  Helpers helpers;
  helpers.function("fma", kF32x16);
  EXPECT_THAT(helpers.text(), HasSubstr("#if TW_HAS_BUILTIN(__builtin_elementwise_fma)\n"));
  EXPECT_THAT(helpers.text(), HasSubstr("#elif defined(__AVX512F__)\n"));
  EXPECT_THAT(helpers.text(), HasSubstr("_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c)"));
  EXPECT_EQ(count(helpers.text(), "_mm256_fmadd"), 0U);
  // Otherwise lane by lane, through the scalar.
  EXPECT_THAT(helpers.text(), HasSubstr("r[k] = tw_fma_f32(a[k], b[k], c[k]);"));
}

TEST(Helpers, TwoTypes) {
  Helpers helpers;
  EXPECT_EQ(helpers.function("saturate", kF32, {CBase::I8, 1}), "tw_saturate_i8_f32");
  EXPECT_THAT(helpers.text(), HasSubstr("a >= 0x1p7f ? (int8_t)0x7fu"));
}

TEST(Helpers, MemoryIsUnalignedAndAliases) {
  Helpers helpers;
  EXPECT_EQ(helpers.memory(kF32x8), "tw_f32x8_u");
  EXPECT_THAT(helpers.text(),
              HasSubstr("typedef tw_f32x8 tw_f32x8_u __attribute__((aligned(4), may_alias));\n"));
}

}  // namespace
}  // namespace tilewright::codegen
