#include "te/ops/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;

// Softmax of scale * scores.
std::vector<double> softmax_of(std::vector<double> scores, double scale) {
  const double max_score = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp((score - max_score) * scale);
  for (double& score : scores) score /= sum;
  return scores;
}

// Products of query i with all keys, operands as [b, seq, heads, dim].
std::vector<double> late_head_scores(const Evaluated& op, const AttentionShape& s, int64_t b,
                                     int64_t h, int64_t i) {
  std::vector<double> scores(static_cast<size_t>(s.seq));
  for (int64_t j = 0; j < s.seq; ++j) {
    for (int64_t k = 0; k < s.dim; ++k) {
      scores[static_cast<size_t>(j)] += op.in("Q", ((b * s.seq + i) * s.heads + h) * s.dim + k) *
                                        op.in("K", ((b * s.seq + j) * s.heads + h) * s.dim + k);
    }
  }
  return scores;
}

TEST(Attention, TransposeBatchMatmulEqualsItsLoops) {
  const AttentionShape s{.b = 2, .heads = 3, .seq = 5, .dim = 4};
  for (const char* dtype : {"f32", "f64", "f16", "bf16", "i8"}) {
    const Evaluated op(std::string("transpose_batch_matmul:b=2,heads=3,seq=5,dim=4,dtype=") +
                       dtype);
    ASSERT_THAT(op.shape, ElementsAre(2, 3, 5, 5));
    for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
      const auto scores = late_head_scores(op, s, at[0], at[1], at[2]);
      ASSERT_EQ(op.output[offset], scores[static_cast<size_t>(at[3])]) << dtype;
    });
  }
}

TEST(Attention, TransposeBatchMatmulSoftmaxEqualsItsLoops) {
  const AttentionShape s{.b = 1, .heads = 2, .seq = 7, .dim = 3};
  const Evaluated op("transpose_batch_matmul_softmax:heads=2,seq=7,dim=3");
  for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
    const auto row = softmax_of(late_head_scores(op, s, at[0], at[1], at[2]), 1);
    ASSERT_NEAR(op.output[offset], row[static_cast<size_t>(at[3])], 1e-15);
  });
}

double naive_attention(const Evaluated& op, const AttentionShape& s,
                       const std::vector<int64_t>& at) {
  const int64_t head = (at[0] * s.heads + at[1]) * s.seq;
  std::vector<double> scores(static_cast<size_t>(s.seq));
  for (int64_t j = 0; j < s.seq; ++j) {
    for (int64_t k = 0; k < s.dim; ++k) {
      scores[static_cast<size_t>(j)] +=
          op.in("Q", (head + at[2]) * s.dim + k) * op.in("K", (head + j) * s.dim + k);
    }
  }
  const auto weights = softmax_of(scores, 1 / std::sqrt(static_cast<double>(s.dim)));
  double sum = 0;
  for (int64_t j = 0; j < s.seq; ++j) {
    sum += weights[static_cast<size_t>(j)] * op.in("V", (head + j) * s.dim + at[3]);
  }
  return sum;
}

TEST(Attention, BothFormsEqualTheDefinition) {
  const AttentionShape s{.b = 2, .heads = 3, .seq = 7, .dim = 5};
  for (const char* name : {"attention:", "attention_online:block=1,", "attention_online:block=3,",
                           "attention_online:block=7,", "attention_online:block=100,"}) {
    for (const char* dtype : {"f32", "f64"}) {
      const Evaluated op(std::string(name) + "b=2,heads=3,seq=7,dim=5,dtype=" + dtype, -20, 20);
      ASSERT_THAT(op.shape, ElementsAre(2, 3, 7, 5));
      for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
        ASSERT_NEAR(op.output[offset], naive_attention(op, s, at), 2e-6) << name << dtype;
      });
    }
  }
}

TEST(Attention, F16ResultsAreRoundedOnce) {
  const AttentionShape s{.b = 1, .heads = 1, .seq = 6, .dim = 4};
  const Evaluated op("attention_online:seq=6,dim=4,block=4,dtype=bf16");
  for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
    const double exact = naive_attention(op, s, at);
    EXPECT_NEAR(op.output[offset], exact, std::fabs(exact) / 256 + 1e-6);
  });
}

TEST(Attention, FoldingTheIdentityChangesNothing) {
  const auto dag = attention_online({.seq = 8, .dim = 2}, 4);
  const Op& fold = dag->op(dag->find_op(Name("F")).value());
  // max(lowest, m), l * exp(m - m) + 0 * exp(lowest - m): evaluated as a separate Dag.
  for (const double m : {-1e30, -5.0, 0.0, 7.0, 1e30, static_cast<double>(-0x1.fffffep127)}) {
    DagBuilder builder;
    const TensorId x = builder.placeholder("X", {3}, ir::Scalar::F32);
    const Axis i = builder.axis("i", 1);
    const Axis k = builder.axis("k", 1);
    const std::vector<ir::Expr> values = {builder.read(x, {k.var}), builder.read(x, {k.var + 1}),
                                          builder.read(x, {k.var + 2})};
    const std::vector<TensorId> out = builder.reduce_tuple("R", {i}, {k}, *fold.reduction, values,
                                                           std::vector(3, ir::Scalar::F32));
    const auto one = std::move(builder).build();
    const double given[] = {m, 3, -4};
    Evaluator evaluator(*one, [&](TensorId, int64_t offset) { return given[offset]; });
    const int64_t zero = 0;
    for (size_t part = 0; part < 3; ++part) {
      EXPECT_EQ(evaluator.element(out[part], {&zero, 1}), given[part]) << m;
    }
  }
}

TEST(Attention, OnlyTheResultIsAnOutput) {
  const auto dag = attention_online({.seq = 8, .dim = 2}, 4);
  ASSERT_EQ(dag->outputs().size(), 1u);
  EXPECT_EQ(dag->tensor(dag->outputs()[0]).name.text(), "Y");
  std::vector<std::string> stages;
  for (const Op& op : dag->ops()) stages.push_back(op.name.text());
  EXPECT_THAT(stages, ElementsAre("Q", "K", "V", "C", "M", "E", "S", "O", "F", "Y"));
}

TEST(Attention, FlopIsThatOfTheProducts) {
  const AttentionShape s{.b = 2, .heads = 3, .seq = 16, .dim = 8};
  const double product = 2.0 * 2 * 3 * 16 * 16 * 8;
  EXPECT_EQ(transpose_batch_matmul(s)->flop(), product);
  EXPECT_EQ(transpose_batch_matmul_softmax(s)->flop(), product);
  EXPECT_EQ(attention(s)->flop(), 2 * product);
  EXPECT_EQ(attention_online(s, 4)->flop(), 2 * product);
}

TEST(Attention, Mistakes) {
  const Mistake mistakes[] = {
      {"attention:seq=4,dim=4,dtype=i32", "attention: dtype i32 is not supported"},
      {"attention_online:seq=4,dim=4,dtype=i8", "attention_online: dtype i8 is not supported"},
      {"attention_online:seq=4,dim=4,block=0", "block: 0 is out of range"},
      {"transpose_batch_matmul:seq=4,dim=4,dtype=bool", "dtype bool is not supported"},
      {"transpose_batch_matmul_softmax:seq=4,dim=4,dtype=i32", "dtype i32 is not supported"},
      {"attention:seq=4", "attention needs parameter dim"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
