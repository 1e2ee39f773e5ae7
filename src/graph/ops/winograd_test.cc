#include "te/ops/winograd.h"

#include "graph/ops/testing.h"
#include "task/parse.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

// w[3, 3, ci, co] -> G w G^T[m+2, m+2, ci, co], by the definition.
Constant transformed(const Constant& w, int64_t m) {
  const te::Matrix& g = te::winograd_matrices(m).g;
  const Shape& shape = w.type().shape;
  const int64_t pairs = shape[2] * shape[3];
  Numbers numbers;
  for (const auto& row : g) {
    for (const auto& column : g) {
      for (int64_t pair = 0; pair < pairs; ++pair) {
        double sum = 0;
        for (size_t r = 0; r < 3; ++r) {
          for (size_t c = 0; c < 3; ++c) {
            const auto tap = static_cast<int64_t>(3 * r + c);
            sum += row[r] * w.number(tap * pairs + pair) * column[c];
          }
        }
        numbers.push_back(sum);
      }
    }
  }
  return constant(w.type().element, {m + 2, m + 2, shape[2], shape[3]}, numbers);
}

struct Case {
  Shape x;  // n, h, w, ci
  int64_t co = 1, pad = 1, m = 4;
};

const Case kCases[] = {
    {.x = {1, 8, 8, 4}, .co = 3},           {.x = {1, 7, 7, 3}, .co = 5},
    {.x = {1, 13, 13, 2}, .co = 3},         {.x = {1, 55, 55, 2}, .co = 1},
    {.x = {1, 1, 56, 3}, .co = 2},          {.x = {2, 6, 9, 3}, .co = 2, .pad = 0},
    {.x = {2, 5, 14, 3}, .co = 2},          {.x = {1, 3, 3, 2}, .co = 2, .pad = 0},
    {.x = {3, 4, 5, 2}, .co = 2, .pad = 2}, {.x = {2, 7, 5, 3}, .co = 2, .m = 2},
};

double largest(const Numbers& numbers) {
  double max_abs = 0;
  for (const double number : numbers) max_abs = std::max(max_abs, std::abs(number));
  return max_abs;
}

TEST(ConvWinograd, EqualsTheConvolution) {
  for (const Case& c : kCases) {
    const Shape pads = {c.pad, c.pad};
    const auto result = [&](Scalar element, bool winograd) {
      const Constant x = random_numbers(c.x, 1, element);
      const Constant w = random_numbers({3, 3, c.x[3], c.co}, 2, element);
      return winograd ? run("conv_winograd", {{"pad", c.pad}}, {x, transformed(w, c.m)})
                      : run("conv",
                            {{"channels_last", int64_t{1}}, {"pad_begin", pads}, {"pad_end", pads}},
                            {x, w});
    };
    const Constant direct = result(Scalar::F64, false);
    const Numbers expected = numbers(direct);
    for (const Scalar element : {Scalar::F64, Scalar::F32}) {
      const Constant made = result(element, true);
      ASSERT_EQ(made.type().shape, direct.type().shape) << testing::PrintToString(c.x);
      const Numbers actual = numbers(made);
      const double tolerance = (element == Scalar::F64 ? 1e-12 : 1e-5) * largest(expected);
      for (size_t k = 0; k < actual.size(); ++k) {
        ASSERT_NEAR(actual[k], expected[k], tolerance)
            << testing::PrintToString(c.x) << " at " << k;
      }
    }
  }
}

TEST(ConvWinograd, HasTheKeyOfTheOperator) {
  const auto dag = define("conv_winograd", {{"pad", int64_t{1}}},
                          {type_of({1, 14, 14, 8}), type_of({6, 6, 8, 16})});
  ASSERT_TRUE(dag) << dag.error().message;
  const auto given =
      parse_workload("conv2d_winograd:n=1,h=14,w=14,ci=8,co=16,pad=1,m=4,weight=transformed");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(dag_workload(*dag, {"W"}, given->permissions).key(), given->key());
}

TEST(ConvWinograd, InvalidShapesAreErrors) {
  const TensorType x = type_of({1, 8, 8, 4}), w = type_of({6, 6, 4, 8});
  EXPECT_EQ(error_of("conv_winograd", {}, {x, w}), "");
  EXPECT_THAT(error_of("conv_winograd", {}, {x, type_of({3, 3, 4, 8})}),
              testing::HasSubstr("w[6,6,ci,co]"));
  EXPECT_NE(error_of("conv_winograd", {}, {x, type_of({6, 4, 4, 8})}), "");
  EXPECT_NE(error_of("conv_winograd", {}, {x, type_of({6, 6, 5, 8})}), "");
  EXPECT_NE(error_of("conv_winograd", {}, {x, type_of({6, 6, 4})}), "");
  EXPECT_NE(error_of("conv_winograd", {}, {type_of({8, 8, 4}), w}), "");
  EXPECT_NE(error_of("conv_winograd", {}, {x, type_of({6, 6, 4, 8}, Scalar::F64)}), "");
  EXPECT_NE(error_of("conv_winograd", {},
                     {type_of({1, 8, 8, 4}, Scalar::I32), type_of({6, 6, 4, 8}, Scalar::I32)}),
            "");
  EXPECT_NE(error_of("conv_winograd", {}, {type_of({1, 2, 8, 4}), w}), "");  // no output
  for (const int64_t pad : {int64_t{-1}, int64_t{2147483647}, int64_t{1} << 62}) {
    EXPECT_NE(error_of("conv_winograd", {{"pad", pad}}, {x, w}), "") << pad;
  }
  const int64_t much = int64_t{1} << 20;
  EXPECT_NE(error_of("conv_winograd", {}, {type_of({1, much, much, 1}), type_of({6, 6, 1, 1})}),
            "");
}

}  // namespace
}  // namespace tilewright::graph
