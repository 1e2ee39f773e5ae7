#include "te/ops/matmul.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "te/ops/testing.h"

namespace tilewright::te {
namespace {

TEST(Matmul, EqualsTheDefinition) {
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

TEST(Matmul, BatchEqualsTheDefinition) {
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

TEST(Matmul, TransposedOperandsHaveSwappedShapes) {
  const int64_t m = 3, n = 5, k = 4;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const std::string flags = fmt::format("transpose_a={:d},transpose_b={:d}", ta, tb);
      const Evaluated plain("matmul:m=3,n=5,k=4," + flags);
      const Evaluated batched("batch_matmul:b=2,m=3,n=5,k=4," + flags);
      const auto expected = [&](const Evaluated& product, int64_t b, int64_t i, int64_t j) {
        double sum = 0;
        for (int64_t r = 0; r < k; ++r) {
          sum += product.in("A", b * m * k + (ta ? r * m + i : i * k + r)) *
                 product.in("B", b * k * n + (tb ? j * k + r : r * n + j));
        }
        return sum;
      };
      for (int64_t at = 0; at < 2 * m * n; ++at) {
        const int64_t b = at / (m * n), i = at / n % m, j = at % n;
        if (b == 0) {
          EXPECT_EQ(plain.output[static_cast<size_t>(at)], expected(plain, 0, i, j)) << flags;
        }
        EXPECT_EQ(batched.output[static_cast<size_t>(at)], expected(batched, b, i, j)) << flags;
      }
    }
  }
  EXPECT_EQ(parse_operator("matmul:m=3,n=5,k=4,transpose_b=1")->text,
            "matmul:m=3,n=5,k=4,dtype=f32,transpose_b=1");
}

TEST(Matmul, TypeOfBMayDiffer) {
  const Evaluated product("matmul:m=2,n=3,k=4,dtype=u8,dtype_b=i8");
  for (int64_t at = 0; at < 6; ++at) {
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      sum += product.in("A", at / 3 * 4 + k) * product.in("B", k * 3 + at % 3);
    }
    EXPECT_EQ(product.output[static_cast<size_t>(at)], sum);
  }
  const auto dag = parse_operator("batch_matmul:m=2,n=3,k=4,dtype=u8,dtype_b=i8")->dag;
  EXPECT_EQ(dag->tensor(0).element, ir::Scalar::U8);
  EXPECT_EQ(dag->tensor(1).element, ir::Scalar::I8);
  EXPECT_EQ(dag->tensor(2).element, ir::Scalar::I32);
  // Printed only if it differs from the default.
  EXPECT_EQ(parse_operator("matmul:m=2,n=3,k=4,dtype=u8,dtype_b=i8")->text,
            "matmul:m=2,n=3,k=4,dtype=u8,dtype_b=i8");
  EXPECT_EQ(parse_operator("matmul:m=2,n=3,k=4,dtype=i8,dtype_b=i8")->text,
            "matmul:m=2,n=3,k=4,dtype=i8");
  EXPECT_EQ(parse_operator("matmul:m=2,n=3,k=4,dtype=u8,dtype_b=f32").error().message,
            "matmul: sums of products are kept in i32 for u8 and in f32 for f32; take types that "
            "agree");
  EXPECT_EQ(parse_operator("matmul:m=2,n=3,k=4,dtype_b=bool").error().message,
            "matmul: dtype bool is not supported; types are f16, bf16, f32, f64, i8, i16, i32, "
            "i64, u8, u16, u32");
}

TEST(Matmul, AFlagIsZeroOrOne) {
  const auto instance = parse_operator("matmul:m=3,n=5,k=4,transpose_b=2");
  ASSERT_FALSE(instance.has_value());
  EXPECT_EQ(instance.error().message,
            "matmul: parameter transpose_b: 2 is out of range; legal are 0 to 1");
}

TEST(Matmul, AccumulatorAndResultTypes) {
  struct Case {
    ir::Scalar element, sum, result;
  };
  using enum ir::Scalar;
  const Case cases[] = {{F32, F32, F32}, {F64, F64, F64}, {F16, F32, F16}, {BF16, F32, BF16},
                        {I8, I32, I32},  {U8, I32, I32},  {I32, I32, I32}, {I64, I64, I64},
                        {U16, U32, U32}, {U32, U32, U32}};
  for (const Case& c : cases) {
    const auto dag = matmul({.m = 2, .n = 2, .k = 2, .element = c.element});
    EXPECT_EQ(dag->op(2).body[0].type().scalar, c.sum);
    EXPECT_EQ(dag->tensor(2).element, c.result);
  }
}

}  // namespace
}  // namespace tilewright::te
