#include "te/ops/scan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

TEST(CumulativeSum, EqualsARunningSum) {
  const std::vector<std::vector<int64_t>> shapes = {{3, 8, 2}, {2, 1, 3}, {2, 2, 2}, {2, 13, 1}};
  for (const std::vector<int64_t>& shape : shapes) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        for (const char* dtype : {"f32", "f64", "i8", "bf16"}) {
          const Evaluated op(fmt::format(
              "cumulative_sum:shape={},axis=1,exclusive={:d},reverse={:d},dtype={}",
              fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]), exclusive, reverse, dtype));
          for_each_index(shape, [&](const std::vector<int64_t>& y, size_t offset) {
            double sum = 0;
            for (int64_t j = 0; j < shape[1]; ++j) {
              const bool before = reverse ? j > y[1] : j < y[1];
              if (before || (j == y[1] && !exclusive)) {
                sum += at(op.inputs.at("X"), shape, {y[0], j, y[2]});
              }
            }
            ASSERT_EQ(op.output[offset], sum) << dtype << exclusive << reverse;
          });
        }
      }
    }
  }
}

TEST(CumulativeSum, LogarithmicStagesAndWideAccumulators) {
  const auto dag = parse_operator("cumulative_sum:shape=2x9,dtype=i8")->dag;
  std::vector<std::string> stages;
  for (const Tensor& tensor : dag->tensors()) {
    stages.push_back(tensor.name.text() + ":" + std::string(ir::name_of(tensor.element)));
  }
  EXPECT_THAT(stages, ::testing::ElementsAre("X:i8", "T1:i32", "T2:i32", "T3:i32", "Y:i32"));
  EXPECT_EQ(Evaluated("cumulative_sum:shape=200,dtype=i8", 100, 100).output.back(), 20000);
  const auto halves = parse_operator("cumulative_sum:shape=4,dtype=f16")->dag;
  EXPECT_EQ(halves->tensor(1).element, ir::Scalar::F32);
  EXPECT_EQ(halves->tensor(2).element, ir::Scalar::F16);
}

TEST(CumulativeSum, Mistakes) {
  const Mistake mistakes[] = {
      {"cumulative_sum:shape=4,axis=1", "cumulative_sum: there is no axis 1"},
      {"cumulative_sum:shape=4,dtype=bool", "dtype bool is not supported"},
      {"cumulative_sum:shape=4,reverse=yes", "'yes' is not a whole number"},
      {"cumulative_sum:shape=1x1x1x1x1x1x1x1x1x1x1", "a shape of 11 dimensions"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
