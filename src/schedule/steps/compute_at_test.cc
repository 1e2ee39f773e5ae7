#include "schedule/steps/compute_at.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

const char* const kConv = "conv2d:h=8,w=8,ci=4,co=6,kernel=3,pad=1";

TEST(ComputeAt, Legal) {
  check_legal({
      // Four rows of the output read six of the border.
      {kConv, "split Y y [4]\n", "compute_at P Y y.0", R"(
for n < 1
  for y.0 < 2
    for n < 1
      for y < 6
        for x < 10
          for c < 4
            P (1x6x10x4) <- X
    for y.1 < 4
      for x < 8
        for c < 6
          for ry < 3
            for rx < 3
              for rc < 4
                Y (1x8x8x6) <- P, W
)"},
      // Below a reduce loop: the region of one iteration.
      {kConv, "split Y y [4]\n", "compute_at P Y ry", R"(
for n < 1
  for y.0 < 2
    for y.1 < 4
      for x < 8
        for c < 6
          for ry < 3
            for n < 1
              for y < 1
                for x < 3
                  for c < 4
                    P (1x1x3x4) <- X
            for rx < 3
              for rc < 4
                Y (1x8x8x6) <- P, W
)"},
      // The rows that a remainder needs are fewer.
      {"conv2d:h=7,w=8,ci=4,co=6,kernel=3,pad=1", "split Y y [4]\n", "compute_at P Y y.0", R"(
for n < 1
  for y.0 < 2
    for n < 1
      for y < 6 or fewer
        for x < 10
          for c < 4
            P (1x6x10x4) <- X
    for y.1 < 4 or fewer
      for x < 8
        for c < 6
          for ry < 3
            for rx < 3
              for rc < 4
                Y (1x7x8x6) <- P, W
)"},
      // Several readers, all within the loop.
      {"softmax:m=4,n=8", "compute_at R Y i\ncompute_at S Y i\n", "compute_at E Y i", R"(
for i < 4
  for k < 8
    M (4) <- X
for i < 4
  for i < 1
    for j < 8
      E (1x8) <- X, M
  for i < 1
    for k < 8
      S (1) <- E
  for i < 1
    R (1) <- S
  for j < 8
    Y (4x8) <- E, R
)"},
      // Attached twice: the last position counts.
      {"softmax:m=4,n=8", "compute_at M E j\n", "compute_at M E i", R"(
for i < 4
  for i < 1
    for k < 8
      M (1) <- X
  for j < 8
    E (4x8) <- X, M
for i < 4
  for k < 8
    S (4) <- E
for i < 4
  R (4) <- S
for i < 4
  for j < 8
    Y (4x8) <- E, R
)"},
  });
}

TEST(ComputeAt, Illegal) {
  const std::string matmul = "matmul:m=8,n=8,k=8";
  check_illegal({
      {matmul,
       "",
       "compute_at C C i",
       IllegalCode::StageIsOutput,
       {"C is an output", "cache_write"}},
      {matmul,
       "cache_read A [C]\n",
       "compute_at A.read A.read d0",
       IllegalCode::TargetIsSelf,
       {"A.read would be computed inside itself", "its readers are C"}},
      {matmul,
       "cache_read A [C]\n",
       "compute_at A.read C q",
       IllegalCode::NoSuchLoop,
       {"C has no loop q", "i, j, k"}},
      {matmul, "", "compute_at A C i", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul,
       "cache_read A [C]\n",
       "compute_at A.read B i",
       IllegalCode::StageIsInput,
       {"B is an input"}},
      {matmul, "", "compute_at A.read C i", IllegalCode::NoSuchStage, {"no stage A.read"}},
      // In a circle.
      {"softmax:m=4,n=8",
       "compute_at M E i\n",
       "compute_at E M i",
       IllegalCode::TargetIsSelf,
       {"E would be computed inside itself", "its readers are S, Y"}},
      // Y reads E too, after S is done with it.
      {"softmax:m=4,n=8",
       "",
       "compute_at E S i",
       IllegalCode::ReaderOutside,
       {"Y reads it outside loop i", "further out or at root"}},
      {"elementwise:shape=8x8,chain=relu+exp+neg",
       "compute_inline T2\n",
       "compute_at T1 T2 i",
       IllegalCode::StageIsInlined,
       {"T2 is inlined"}},
      {"elementwise:shape=8x8,chain=relu+exp",
       "compute_inline T1\n",
       "compute_at T1 Y i",
       IllegalCode::StageIsInlined,
       {"T1 is inlined"}},
      {matmul,
       "cache_write C\nannotate C j vectorize\n",
       "compute_at C.write C j",
       IllegalCode::VectorizeNotInnermost,
       {"loop j of C is vectorized", "no attached stage"}},
      // i is (i,j) / 8: known only when both parts of the split fusion are.
      {matmul,
       "cache_read A [C]\nfuse C [i, j]\nsplit C (i,j) [4]\n",
       "compute_at A.read C (i,j).0",
       IllegalCode::PartlyFused,
       {"variable i of C", "fused and split", "outside or inside all loops"}},
  });
}

// All outputs of an operator count, not only its first.
TEST(ComputeAt, RejectsOperatorsWithAnOutputOfTheDag) {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {4, 8}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", 4);
  const te::Axis k = builder.axis("k", 8);
  te::Reduction two = te::make_reduction(ir::BinaryOp::Add, ir::Scalar::F32);
  const te::Reduction largest = te::make_reduction(ir::BinaryOp::Max, ir::Scalar::F32);
  two.identity.push_back(largest.identity[0]);
  two.lhs.push_back(largest.lhs[0]);
  two.rhs.push_back(largest.rhs[0]);
  two.combine.push_back(largest.combine[0]);
  const ir::Expr value = builder.read(x, {i.var, k.var});
  const auto outputs =
      builder.reduce_tuple("S", {i}, {k}, two, {value, value}, {ir::Scalar::F32, ir::Scalar::F32});
  const te::Axis j = builder.axis("i", 4);
  builder.compute("Y", {j}, builder.read(outputs[0], {j.var}));
  const Workbench bench(std::move(builder).build());
  EXPECT_EQ(bench.refusal("compute_at S Y i").code, IllegalCode::StageIsOutput);
  EXPECT_EQ(bench.refusal("compute_inline S").code, IllegalCode::StageHasReduction);
  EXPECT_EQ(bench.refusal("cache_read S [Y]").code, IllegalCode::MultipleOutputs);
  EXPECT_NE(bench.explanation("cache_read S [Y]").find("S computes several tensors"),
            std::string::npos);
  EXPECT_EQ(bench.refusal("pack S Y").code, IllegalCode::MultipleOutputs);
  EXPECT_EQ(bench.tree("cache_write S").to_string(), R"(X: input
for i < 4
  for k < 8
    S.write (4) <- X
for i < 4
  S (4) <- S.write, S.write
for i < 4
  Y (4) <- S
)");
}

}  // namespace
}  // namespace tilewright::schedule::testing
