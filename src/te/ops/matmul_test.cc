#include "te/ops/matmul.h"

#include <gtest/gtest.h>

#include "te/ops/testing.h"

namespace tilewright::te {
namespace {

TEST(Matmul, EqualsThreeLoops) {
  for (const char* dtype : {"f32", "f64", "f16", "bf16", "i8", "i32"}) {
    const Evaluated product(std::string("matmul:m=3,n=5,k=7,dtype=") + dtype);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 7; ++k)
          sum += product.in("A", i * 7 + k) * product.in("B", k * 5 + j);
        EXPECT_EQ(product.output[static_cast<size_t>(i * 5 + j)], sum) << dtype;
      }
    }
  }
}

TEST(Matmul, BatchEqualsFourLoops) {
  const Evaluated product("batch_matmul:b=2,m=3,n=5,k=4");
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k) {
          sum += product.in("A", (b * 3 + i) * 4 + k) * product.in("B", (b * 4 + k) * 5 + j);
        }
        EXPECT_EQ(product.output[static_cast<size_t>((b * 3 + i) * 5 + j)], sum);
      }
    }
  }
}

TEST(Matmul, TypesOfSumsAndResults) {
  struct Case {
    ir::Scalar element, sum, result;
  };
  using enum ir::Scalar;
  const Case cases[] = {{F32, F32, F32}, {F64, F64, F64}, {F16, F32, F16}, {BF16, F32, BF16},
                        {I8, I32, I32},  {U8, I32, I32},  {I32, I32, I32}, {I64, I64, I64}};
  for (const Case& c : cases) {
    const auto dag = matmul({.m = 2, .n = 2, .k = 2, .element = c.element});
    EXPECT_EQ(dag->op(2).body[0].type().scalar, c.sum);
    EXPECT_EQ(dag->tensor(2).element, c.result);
  }
}

}  // namespace
}  // namespace tilewright::te
