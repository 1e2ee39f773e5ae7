#include "schedule/steps/annotate.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Annotate, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=8", "", "annotate C i parallel", R"(
parallel for i < 4
  for j < 6
    for k < 8
      C (4x6) <- A, B
)"},
      {"matmul:m=4,n=6,k=8", "reorder C [k, j]\n", "annotate C j vectorize", R"(
for i < 4
  for k < 8
    vectorize for j < 6
      C (4x6) <- A, B
)"},
      {"matmul:m=4,n=6,k=8", "annotate C i parallel\nannotate C k vectorize\n",
       "annotate C j unroll", R"(
parallel for i < 4
  unroll for j < 6
    vectorize for k < 8
      C (4x6) <- A, B
)"},
      // Unrolled loops may be inside the vectorized one.
      {"matmul:m=4,n=6,k=8", "annotate C k unroll\n", "annotate C j vectorize", R"(
for i < 4
  vectorize for j < 6
    unroll for k < 8
      C (4x6) <- A, B
)"},
      {"matmul:m=4,n=6,k=8", "", "annotate C i none", R"(
for i < 4
  for j < 6
    for k < 8
      C (4x6) <- A, B
)"},
  });
}

TEST(Annotate, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=8";
  check_illegal({
      {matmul,
       "",
       "annotate C k parallel",
       IllegalCode::ParallelReduce,
       {"loop k of C is a reduction", "rfactor"}},
      {matmul,
       "annotate C i unroll\n",
       "annotate C i parallel",
       IllegalCode::LoopIsAnnotated,
       {"loop i of C is annotated already; a loop takes one annotation"}},
      {matmul, "", "annotate C q unroll", IllegalCode::NoSuchLoop, {"no loop q", "i, j, k"}},
      {matmul, "", "annotate A i unroll", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul, "", "annotate D i unroll", IllegalCode::NoSuchStage, {"no stage D"}},
      {matmul,
       "",
       "annotate C i vectorize",
       IllegalCode::VectorizeNotInnermost,
       {"loop i of C is vectorized", "only unrolled loops"}},
      {matmul,
       "annotate C j vectorize\n",
       "annotate C k vectorize",
       IllegalCode::TwoVectorized,
       {"C has a second vectorized loop k"}},
      {matmul,
       "annotate C i parallel\n",
       "annotate C j parallel",
       IllegalCode::NestedParallel,
       {"loop j of C", "one level"}},
      // Around an attached stage.
      {matmul,
       "cache_write C\ncompute_at C.write C i\nannotate C i parallel\n",
       "annotate C.write j parallel",
       IllegalCode::NestedParallel,
       {"loop j of C.write"}},
  });
}

}  // namespace
}  // namespace tilewright::schedule::testing
