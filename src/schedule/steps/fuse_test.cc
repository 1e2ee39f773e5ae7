#include "schedule/steps/fuse.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Fuse, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=3", "", "fuse C [i, j]", R"(
for (i,j) < 24
  for k < 3
    C (4x6) <- A, B
)"},
      {"batch_matmul:b=2,m=4,n=6,k=3", "", "fuse C [b, i, j]", R"(
for (b,i,j) < 48
  for k < 3
    C (2x4x6) <- A, B
)"},
      {"batch_matmul:b=2,m=4,n=6,k=3", "fuse C [i, j]\n", "fuse C [b, (i,j)]", R"(
for (b,(i,j)) < 48
  for k < 3
    C (2x4x6) <- A, B
)"},
      // Parts of different axes; the fused loop has the remainder of the second one.
      {"matmul:m=8,n=7,k=3", "split C i [4]\nsplit C j [4]\nreorder C [i.0, j.0, i.1, j.1]\n",
       "fuse C [i.1, j.1]", R"(
for i.0 < 2
  for j.0 < 2
    for (i.1,j.1) < 16 or fewer
      for k < 3
        C (8x7) <- A, B
)"},
      // Reduce loops.
      {"conv2d:h=5,w=5,ci=2,co=3,kernel=3", "", "fuse Y [ry, rx, rc]", R"(
for n < 1
  for y < 3
    for x < 3
      for c < 3
        for (ry,rx,rc) < 18
          Y (1x3x3x3) <- X, W
)"},
  });
}

TEST(Fuse, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=8";
  check_illegal({
      {matmul, "", "fuse C [i]", IllegalCode::NotAdjacent, {"two or more", "C has i, j, k"}},
      {matmul, "", "fuse C []", IllegalCode::NotAdjacent, {"two or more"}},
      {matmul, "", "fuse C [i, k]", IllegalCode::NotAdjacent, {"directly inside", "i, j, k"}},
      {matmul, "", "fuse C [j, i]", IllegalCode::NotAdjacent, {"directly inside"}},
      {matmul, "", "fuse C [i, i]", IllegalCode::NotAdjacent, {"directly inside"}},
      {matmul, "", "fuse C [j, k]", IllegalCode::MixedKinds, {"loop k of C", "do not fuse"}},
      {matmul, "", "fuse C [i, q]", IllegalCode::NoSuchLoop, {"no loop q", "i, j, k"}},
      {matmul, "", "fuse A [i, j]", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul, "", "fuse Z [i, j]", IllegalCode::NoSuchStage, {"no stage Z", "A, B, C"}},
      {matmul,
       "annotate C j unroll\n",
       "fuse C [i, j]",
       IllegalCode::LoopIsAnnotated,
       {"loop j of C"}},
      {matmul,
       "cache_write C\ncompute_at C.write C i\n",
       "fuse C [i, j]",
       IllegalCode::LoopIsAttachPoint,
       {"loop i of C"}},
  });
}

}  // namespace
}  // namespace tilewright::schedule::testing
