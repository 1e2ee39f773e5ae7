#include "schedule/steps/reorder.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Reorder, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=8", "", "reorder C [k, i]", R"(
for k < 8
  for j < 6
    for i < 4
      C (4x6) <- A, B
)"},
      {"matmul:m=4,n=6,k=8", "", "reorder C [k, i, j]", R"(
for k < 8
  for i < 4
    for j < 6
      C (4x6) <- A, B
)"},
      {"matmul:m=4,n=6,k=8", "", "reorder C []", R"(
for i < 4
  for j < 6
    for k < 8
      C (4x6) <- A, B
)"},
      // Annotations and attached stages move with their loops.
      {"matmul:m=4,n=6,k=8", "cache_read A [C]\ncompute_at A.read C j\nannotate C j parallel\n",
       "reorder C [j, i]", R"(
parallel for j < 6
  for d0 < 4
    for d1 < 8
      A.read (4x8) <- A
  for i < 4
    for k < 8
      C (4x6) <- A.read, B
)"},
  });
}

TEST(Reorder, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=8";
  check_illegal({
      {matmul, "", "reorder C [i, q]", IllegalCode::NoSuchLoop, {"no loop q", "i, j, k"}},
      {matmul, "", "reorder C [i, j, i]", IllegalCode::LoopNamedTwice, {"loop i is named twice"}},
      {matmul, "", "reorder A [i]", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul, "", "reorder C.write [i]", IllegalCode::NoSuchStage, {"no stage C.write"}},
      {"elementwise:shape=8x8,chain=relu+exp",
       "compute_inline T1\n",
       "reorder T1 [j, i]",
       IllegalCode::StageIsInlined,
       {"T1 is inlined"}},
  });
}

}  // namespace
}  // namespace tilewright::schedule::testing
