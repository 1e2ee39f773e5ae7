#include "te/compose.h"

#include <gtest/gtest.h>

#include "te/dag_builder.h"
#include "te/eval.h"
#include "te/ops/conv_transpose.h"
#include "te/ops/matmul.h"
#include "te/ops/reduce.h"
#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

TEST(Compose, ChainOfTwoDags) {
  const auto product = matmul({.m = 2, .n = 3, .k = 2});
  const auto rows = softmax(2, 3);
  DagBuilder builder;
  const TensorId inputs[] = {builder.placeholder("A", {2, 2}, ir::Scalar::F32),
                             builder.placeholder("B", {2, 3}, ir::Scalar::F32)};
  const std::vector<TensorId> first = append(builder, *product, inputs, "n0_");
  ASSERT_EQ(first.size(), 1U);
  const std::vector<TensorId> second = append(builder, *rows, first, "n1_");
  const auto dag = std::move(builder).build();
  EXPECT_EQ(dag->inputs().size(), 2U);
  EXPECT_EQ(dag->outputs(), second);
  EXPECT_TRUE(dag->find_op(Name("n0_C")));
  EXPECT_TRUE(dag->find_op(Name("n1_Y")));
  EXPECT_DOUBLE_EQ(dag->flop(), product->flop() + rows->flop());

  const double a[] = {1, 2, 3, 4}, b[] = {1, 0, -1, 0.5, 1, 2};
  const auto value = [&](TensorId tensor, int64_t offset) {
    return tensor == inputs[0] ? a[offset] : b[offset];
  };
  Evaluator whole(*dag, value);
  const double sums[] = {2, 2, 3};  // row 0 of A B
  double total = 0;
  for (const double sum : sums) total += std::exp(sum - 3);
  for (int64_t j = 0; j < 3; ++j) {
    const int64_t at[] = {0, j};
    EXPECT_DOUBLE_EQ(whole.element(second[0], at), std::exp(sums[j] - 3) / total);
  }
}

TEST(Compose, CopyOfADagHasTheSameText) {
  const auto dag = reduce(ReduceKind::Argmax, std::vector<int64_t>{3, 4}, std::vector<int64_t>{1});
  ASSERT_TRUE(dag);
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {3, 4}, ir::Scalar::F32);
  const auto made = append(builder, **dag, {&x, 1}, "");
  const auto copy = std::move(builder).build();
  EXPECT_EQ(copy->to_string(), (*dag)->to_string());
  EXPECT_EQ(copy->outputs(), (*dag)->outputs());  // the discarded values are no output here either
  EXPECT_EQ(made, copy->outputs());
}

TEST(Compose, ScalarsReplacePlaceholders) {
  const auto product = matmul({.m = 2, .n = 3, .k = 2});
  DagBuilder builder;
  const TensorId inputs[] = {builder.placeholder("A", {2, 2}, ir::Scalar::F32), 0};
  const ir::Expr numbers[] = {{}, ir::float_imm(0.5, {ir::Scalar::F32, 1})};
  append(builder, *product, inputs, "", numbers);
  const auto dag = std::move(builder).build();
  EXPECT_EQ(dag->inputs().size(), 1U);
  Evaluator whole(*dag, [](TensorId, int64_t offset) { return static_cast<double>(offset + 1); });
  const int64_t at[] = {1, 2};
  EXPECT_DOUBLE_EQ(whole.element(dag->outputs()[0], at), 0.5 * (3 + 4));
}

TEST(Compose, HintsAndFlopAreKept) {
  const auto dag =
      conv_transpose({.input = {4, 4}, .kernel = {4, 4}, .ci = 2, .co = 3, .stride = 2, .pad = 1});
  ASSERT_TRUE(dag);
  DagBuilder builder;
  std::vector<TensorId> inputs;
  for (const TensorId id : (*dag)->inputs()) {
    const Tensor& tensor = (*dag)->tensor(id);
    inputs.push_back(builder.placeholder(tensor.name.text(), tensor.shape, tensor.element));
  }
  append(builder, **dag, inputs, "n_");
  const auto copy = std::move(builder).build();
  const Op& sums = copy->op(*copy->find_op(Name("n_Y")));
  EXPECT_TRUE(sums.axes[1].hints.always_unroll_inner);
  EXPECT_TRUE(sums.flop_override.has_value());
  EXPECT_DOUBLE_EQ(copy->flop(), (*dag)->flop());
}

}  // namespace
}  // namespace tilewright::te
