// The oracle alone: inputs are drawn, the outputs come from te/eval, and wrong ones are detected.
// measure/operators_test.cc does the same with compiled schedules of every operator.
#include "oracle/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/element.h"
#include "oracle/draw_inputs.h"
#include "oracle/element.h"
#include "task/parse.h"
#include "te/eval.h"

namespace tilewright::oracle {
namespace {

using ::testing::HasSubstr;

struct Operands {
  explicit Operands(const char* text) : workload(parse_workload(text).value()) {
    for (const Operand& operand : workload.operands) {
      bytes.emplace_back(bytes_of(workload.dag->tensor(operand.tensor)));
    }
    for (std::vector<std::byte>& one : bytes) sections.emplace_back(one);
  }
  const te::Tensor& tensor(size_t k) const {
    return workload.dag->tensor(workload.operands[k].tensor);
  }
  void compute_outputs() {
    te::Evaluator evaluator(*workload.dag, [this](te::TensorId id, int64_t offset) {
      for (size_t k = 0; k < workload.operands.size(); ++k) {
        if (workload.operands[k].tensor != id) continue;
        return ir::read_element(bytes[k].data(), tensor(k).element, offset);
      }
      return 0.0;
    });
    for (size_t k = 0; k < workload.operands.size(); ++k) {
      if (workload.operands[k].role != Role::Output) continue;
      for (int64_t e = 0; e < elements_of(tensor(k)); ++e) {
        ir::write_element(bytes[k].data(), tensor(k).element, e,
                          evaluator.element(workload.operands[k].tensor, indices_of(tensor(k), e)));
      }
    }
  }

  Workload workload;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<std::byte>> sections;
};

TEST(Expectation, TheSameSeedGivesTheSameBytes) {
  Operands one("matmul:m=5,n=6,k=7"), same("matmul:m=5,n=6,k=7"), other("matmul:m=5,n=6,k=7");
  ASSERT_TRUE(draw_inputs(one.workload, 1, one.sections));
  ASSERT_TRUE(draw_inputs(same.workload, 1, same.sections));
  ASSERT_TRUE(draw_inputs(other.workload, 2, other.sections));
  EXPECT_EQ(one.bytes, same.bytes);
  EXPECT_NE(one.bytes, other.bytes);
}

TEST(Expectation, ExactOutputsHaveNoToleranceAndErrorsNameTheElement) {
  Operands operands("matmul:m=5,n=6,k=7");
  ASSERT_TRUE(draw_inputs(operands.workload, 1, operands.sections));
  operands.compute_outputs();
  const Result<Tolerance> tolerance = judge_reference(operands.workload, operands.sections);
  ASSERT_TRUE(tolerance) << tolerance.error().message;
  EXPECT_EQ(tolerance->absolute, (std::vector<double>{0, 0, 0}));
  std::vector<std::byte> actual = operands.bytes[2];
  EXPECT_EQ(find_difference(operands.workload, 2, *tolerance, operands.bytes[2], actual), "");
  const double right = ir::read_element(actual.data(), ir::Scalar::F32, 8);
  ir::write_element(actual.data(), ir::Scalar::F32, 8, right + 1);
  EXPECT_THAT(find_difference(operands.workload, 2, *tolerance, operands.bytes[2], actual),
              HasSubstr("C[1, 2] is"));
}

TEST(Expectation, ToleranceCoversRoundingOnly) {
  Operands operands("softmax:m=4,n=9");
  ASSERT_TRUE(draw_inputs(operands.workload, 1, operands.sections));
  operands.compute_outputs();
  const Result<Tolerance> tolerance = judge_reference(operands.workload, operands.sections);
  ASSERT_TRUE(tolerance) << tolerance.error().message;
  const size_t output = operands.bytes.size() - 1;
  std::vector<std::byte> actual = operands.bytes[output];
  const double right = ir::read_element(actual.data(), ir::Scalar::F32, 4);
  ir::write_element(actual.data(), ir::Scalar::F32, 4, right * (1 + 1e-7));
  EXPECT_EQ(find_difference(operands.workload, output, *tolerance, operands.bytes[output], actual),
            "");
  ir::write_element(actual.data(), ir::Scalar::F32, 4, right * 1.01);
  EXPECT_NE(find_difference(operands.workload, output, *tolerance, operands.bytes[output], actual),
            "");
}

TEST(Expectation, WrongReferenceIsRejected) {
  Operands operands("matmul:m=5,n=6,k=7");
  ASSERT_TRUE(draw_inputs(operands.workload, 1, operands.sections));
  operands.compute_outputs();
  ir::write_element(operands.bytes[2].data(), ir::Scalar::F32, 0, 1e6);
  const Result<Tolerance> tolerance = judge_reference(operands.workload, operands.sections);
  ASSERT_FALSE(tolerance);
  EXPECT_THAT(tolerance.error().message, HasSubstr("C[0, 0] = 1000000, its definition says"));
}

}  // namespace
}  // namespace tilewright::oracle
