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
    const double row_max = *std::max_element(row, row + 6);
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j) sum += std::exp(row[j] - row_max);
    for (int64_t j = 0; j < 6; ++j) {
      EXPECT_DOUBLE_EQ(soft.output[static_cast<size_t>(i * 6 + j)],
                       std::exp(row[j] - row_max) / sum);
    }
  }
}

TEST(Softmax, TheLogarithmEqualsItsDefinition) {
  for (const char* dtype : {"f32", "f64"}) {
    const Evaluated logs(std::string("log_softmax:m=3,n=5,dtype=") + dtype, -800, 800);
    for (int64_t i = 0; i < 3; ++i) {
      const double* row = logs.inputs.at("X").data() + i * 5;
      const double row_max = *std::max_element(row, row + 5);
      double sum = 0;
      for (int64_t j = 0; j < 5; ++j) sum += std::exp(row[j] - row_max);
      for (int64_t j = 0; j < 5; ++j) {
        EXPECT_DOUBLE_EQ(logs.output[static_cast<size_t>(i * 5 + j)],
                         row[j] - row_max - std::log(sum));
      }
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

TEST(Softmax, RequiresFloats) {
  for (const char* op : {"softmax", "log_softmax"}) {
    const auto instance = parse_operator(std::string(op) + ":m=3,n=6,dtype=i32");
    ASSERT_FALSE(instance.has_value());
    EXPECT_EQ(instance.error().kind, ErrorKind::Unsupported);
    EXPECT_EQ(instance.error().message,
              std::string(op) + ": dtype i32 is not supported; types are f16, bf16, f32, f64");
  }
}

}  // namespace
}  // namespace tilewright::te
