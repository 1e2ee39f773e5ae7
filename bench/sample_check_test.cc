#include "sample_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::bench {
namespace {

codegen::BoundKernel build_unscheduled(const Task& task) {
  const schedule::LoopTree tree =
      schedule::apply_or_explain(schedule::initial_tree(task.workload).value(), {}).value();
  return codegen::BoundKernel::build(task, tree, {}).value();
}

// A kernel under the empty trace, its inputs 1, 2, 3, ...; run once.
struct Ran {
  explicit Ran(const char* text)
      : task{parse_workload(text).value(), host_target(1)}, kernel(build_unscheduled(task)) {
    for (size_t k = 0; k < task.workload.operands.size(); ++k) {
      if (task.workload.operands[k].role == Role::Output) continue;
      for (int64_t e = 0; e < kernel.operand_elements(k); ++e) {
        kernel.operand(k).as<float>()[e] = static_cast<float>(e + 1);
      }
    }
    kernel.set_constants();
    EXPECT_EQ(kernel.run(), 0);
  }

  float* output() { return kernel.operand(task.workload.operands.size() - 1).as<float>(); }

  Task task;
  codegen::BoundKernel kernel;
};

TEST(SampleCheck, AcceptsWhatIsRight) {
  for (const char* text :
       {"matmul:m=3,n=5,k=7", "softmax:m=4,n=6", "conv2d:h=5,w=4,ci=3,co=2,kernel=3,pad=1"}) {
    Ran ran(text);
    EXPECT_EQ(find_wrong_sample(ran.task.workload, ran.kernel), std::nullopt) << text;
  }
}

TEST(SampleCheck, NamesAWrongElement) {
  Ran ran("matmul:m=3,n=5,k=7");
  ran.output()[14] += 10;  // the last element is always checked
  const auto wrong = find_wrong_sample(ran.task.workload, ran.kernel);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, testing::MatchesRegex("C\\[2, 4\\] is .* where the definition gives .*"));
}

TEST(SampleCheck, NothingThatIsNotANumberIsRight) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Ran ran("matmul:m=3,n=5,k=7");
    ran.output()[0] = bad;
    EXPECT_TRUE(find_wrong_sample(ran.task.workload, ran.kernel).has_value()) << bad;
  }
}

TEST(SampleCheck, ForgivesWhatRoundingDoes) {
  Ran ran("matmul:m=3,n=5,k=7");
  ran.output()[0] *= 1 + 1e-6f;
  EXPECT_EQ(find_wrong_sample(ran.task.workload, ran.kernel), std::nullopt);
}

}  // namespace
}  // namespace tilewright::bench
