#include "schedule/steps/rfactor.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Rfactor, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=32", "split C k [16]\n", "rfactor C k.1", R"(
for i < 4
  for j < 6
    for k.1 < 16
      for k.0 < 2
        C.rfactor (4x6x16) <- A, B
for i < 4
  for j < 6
    for k.1 < 16
      C (4x6) <- C.rfactor
)"},
      {"matmul:m=4,n=6,k=32", "split C k [16]\n", "rfactor C k.0", R"(
for i < 4
  for j < 6
    for k.0 < 2
      for k.1 < 16
        C.rfactor (4x6x2) <- A, B
for i < 4
  for j < 6
    for k.0 < 2
      C (4x6) <- C.rfactor
)"},
      // Iterations past the end of k fold the identity.
      {"matmul:m=4,n=6,k=35", "split C k [16] tail=pad\n", "rfactor C k.1", R"(
for i < 4
  for j < 6
    for k.1 < 16
      for k.0 < 3
        C.rfactor (4x6x16) <- A, B
for i < 4
  for j < 6
    for k.1 < 16
      C (4x6) <- C.rfactor
)"},
      // The whole reduction: partial results are single products.
      {"matmul:m=4,n=6,k=32", "", "rfactor C k", R"(
for i < 4
  for j < 6
    for k < 32
      C.rfactor (4x6x32) <- A, B
for i < 4
  for j < 6
    for k < 32
      C (4x6) <- C.rfactor
)"},
      // Other reduce loops stay with the partial results.
      {"conv2d:h=5,w=5,ci=2,co=3,kernel=3", "fuse Y [ry, rx]\n", "rfactor Y (ry,rx)", R"(
for n < 1
  for y < 3
    for x < 3
      for c < 3
        for (ry,rx) < 9
          for rc < 2
            Y.rfactor (1x3x3x3x9) <- X, W
for n < 1
  for y < 3
    for x < 3
      for c < 3
        for (ry,rx) < 9
          Y (1x3x3x3) <- Y.rfactor
)"},
      {"matmul:m=4,n=6,k=32", "cache_write C\nsplit C.write k [16]\n", "rfactor C.write k.1", R"(
for i < 4
  for j < 6
    for k.1 < 16
      for k.0 < 2
        C.rfactor (4x6x16) <- A, B
for i < 4
  for j < 6
    for k.1 < 16
      C.write (4x6) <- C.rfactor
for i < 4
  for j < 6
    C (4x6) <- C.write
)"},
  });
}

TEST(Rfactor, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=32";
  check_illegal({
      {matmul, "", "rfactor C i", IllegalCode::LoopIsSpatial, {"loop i of C is not a reduce loop"}},
      {matmul, "", "rfactor C q", IllegalCode::NoSuchLoop, {"no loop q", "i, j, k"}},
      {matmul, "", "rfactor A k", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul, "", "rfactor D k", IllegalCode::NoSuchStage, {"no stage D"}},
      {matmul,
       "annotate C k unroll\n",
       "rfactor C k",
       IllegalCode::LoopIsAnnotated,
       {"loop k of C"}},
      {matmul,
       "cache_read A [C]\ncompute_at A.read C k\n",
       "rfactor C k",
       IllegalCode::LoopIsAttachPoint,
       {"loop k of C"}},
      // Any of its loops: they belong to two stages.
      {matmul,
       "cache_read A [C]\nsplit C k [4]\ncompute_at A.read C k.0\n",
       "rfactor C k.1",
       IllegalCode::LoopIsAttachPoint,
       {"loop k.0 of C"}},
      {matmul,
       "split C i [2]\n",
       "rfactor C k",
       IllegalCode::StageHasSteps,
       {"C has been scheduled already"}},
      {matmul,
       "annotate C i parallel\n",
       "rfactor C k",
       IllegalCode::LoopIsAnnotated,
       {"loop i of C"}},
      {matmul,
       "rfactor C k\n",
       "rfactor C k",
       IllegalCode::StageHasNoReduction,
       {"C is not a reduction"}},
      {matmul,
       "rfactor C k\n",
       "rfactor C.rfactor k",
       IllegalCode::StageHasNoReduction,
       {"C.rfactor is not a reduction"}},
      {"softmax:m=4,n=8", "", "rfactor E j", IllegalCode::StageHasNoReduction, {"E"}},
  });
}

// Partial results have no tail.
TEST(Rfactor, RequiresFactorsThatDivide) {
  const Workbench bench("matmul:m=4,n=6,k=32");
  const std::string steps = "split C k [5]\nrfactor C ";
  EXPECT_EQ(bench.refusal(steps + "k.0").code, IllegalCode::BadFactor);
  EXPECT_NE(bench.explanation(steps + "k.0").find("step 1 `split C k [5]`: loop k of C.rfactor"),
            std::string::npos)
      << bench.explanation(steps + "k.0");
  EXPECT_NE(bench.explanation(steps + "k.0").find("factors that divide"), std::string::npos);
  // The tail is found before the check that rejects tails.
  EXPECT_EQ(bench.refusal(steps + "k.1").code, IllegalCode::TailOrder);
  EXPECT_NE(bench.explanation(steps + "k.1").find("factors that divide"), std::string::npos);
}

// All partial results of an element are computed before the first is reduced.
TEST(Rfactor, PartialResultsAreOutsideTheirReduction) {
  const Workbench bench("conv2d:h=5,w=5,ci=4,co=3,kernel=3");
  const std::string split = "split Y rc [2]\nrfactor Y rc.0\n";
  EXPECT_EQ(bench.refusal(split + "compute_at Y.rfactor Y c").code, IllegalCode::None);
  check_illegal({
      {bench.workload().text,
       split,
       "compute_at Y.rfactor Y rc.0",
       IllegalCode::InsideFold,
       {"Y folds the partial results at loop rc.0", "outside the loops that fold"}},
      {bench.workload().text,
       "rfactor Y rx\n",
       "compute_at Y.rfactor Y rx",
       IllegalCode::InsideFold,
       {"Y folds"}},
      {bench.workload().text,
       "rfactor Y rx\nsplit Y rx [2]\n",
       "compute_at Y.rfactor Y rx.0",
       IllegalCode::InsideFold,
       {"loop rx.0"}},
  });
}

TEST(Rfactor, RejectsRanksAboveTheLimit) {
  te::DagBuilder builder;
  std::vector<te::Extent> shape(kMaxRank, 2);
  std::vector<te::Axis> axes;
  std::vector<ir::Expr> indices;
  for (size_t d = 0; d < kMaxRank; ++d) {
    axes.push_back(builder.axis("a" + std::to_string(d), 2));
    indices.push_back(axes.back().var);
  }
  const te::TensorId x = builder.placeholder("X", shape, ir::Scalar::F32);
  const te::Axis k = builder.axis("k", 4);
  builder.reduce("S", axes, {k}, ir::BinaryOp::Add, builder.read(x, indices), ir::Scalar::F32);
  const Workbench bench(std::move(builder).build());
  EXPECT_EQ(bench.refusal("rfactor S k").code, IllegalCode::RankTooHigh);
  EXPECT_NE(bench.explanation("rfactor S k").find("more than 10 dimensions"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::schedule::testing
