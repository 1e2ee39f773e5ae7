#include "te/ops/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "te/ops/testing.h"

namespace tilewright::te {
namespace {

TEST(Softmax, EqualsItsDefinition) {
  const Evaluated soft("softmax:m=3,n=6", -80, 80);
  for (int64_t i = 0; i < 3; ++i) {
    const double* row = soft.inputs.at("X").data() + i * 6;
    const double most = *std::max_element(row, row + 6);
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j) sum += std::exp(row[j] - most);
    for (int64_t j = 0; j < 6; ++j) {
      EXPECT_DOUBLE_EQ(soft.output[static_cast<size_t>(i * 6 + j)], std::exp(row[j] - most) / sum);
    }
  }
}

TEST(Softmax, StagesAndTheirTypes) {
  const auto dag = softmax(3, 6, ir::Scalar::F16);
  std::vector<std::string> stages;
  for (const Tensor& tensor : dag->tensors()) {
    stages.push_back(tensor.name.text() + ":" + std::string(ir::name_of(tensor.element)));
  }
  EXPECT_THAT(stages, ::testing::ElementsAre("X:f16", "M:f32", "E:f32", "S:f32", "R:f32", "Y:f16"));
}

TEST(Softmax, IsForFloats) {
  const auto instance = parse_operator("softmax:m=3,n=6,dtype=i32");
  ASSERT_FALSE(instance.has_value());
  EXPECT_EQ(instance.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace tilewright::te
