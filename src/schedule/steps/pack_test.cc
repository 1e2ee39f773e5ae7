#include "schedule/steps/pack.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

const char* const kMatmul = "matmul:m=4,n=6,k=8,constant=B";

TEST(Pack, Legal) {
  check_legal({
      {kMatmul, "split C j [2]\n", "pack B C", R"(
B: input packed for C
for i < 4
  for j.0 < 3
    for j.1 < 2
      for k < 8
        C (4x6) <- A, B
)"},
      // A copy is written in the layout of its reader.
      {kMatmul, "cache_read A [C]\n", "pack A.read C", R"(
for d0 < 4
  for d1 < 8
    A.read (4x8) packed for C <- A
for i < 4
  for j < 6
    for k < 8
      C (4x6) <- A.read, B
)"},
      {"softmax:m=4,n=8", "", "pack E S", R"(
for i < 4
  for k < 8
    M (4) <- X
for i < 4
  for j < 8
    E (4x8) packed for S <- X, M
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

TEST(Pack, Illegal) {
  check_illegal({
      {kMatmul, "", "pack A C", IllegalCode::PackInput, {"A is an input", "cache_read it"}},
      {kMatmul, "", "pack C C", IllegalCode::PackOutput, {"C is an output", "caller decides"}},
      {kMatmul, "", "pack B D", IllegalCode::NoSuchStage, {"no stage D"}},
      {kMatmul, "", "pack D C", IllegalCode::NoSuchStage, {"no stage D"}},
      {kMatmul, "", "pack B A", IllegalCode::StageIsInput, {"A is an input"}},
      {kMatmul, "pack B C\n", "pack B C", IllegalCode::AlreadyPacked, {"B is packed already"}},
      {kMatmul,
       "cache_write C\n",
       "pack B C",
       IllegalCode::NotAReader,
       {"C does not read B", "C.write does"}},
      {"softmax:m=4,n=8",
       "compute_inline E\n",
       "pack E S",
       IllegalCode::StageIsInlined,
       {"E is inlined"}},
      // A row of the border is read at y + ry.
      {"conv2d:h=4,w=4,ci=2,co=3,kernel=3,pad=1",
       "",
       "pack P Y",
       IllegalCode::PackIndex,
       {"Y does not read each dimension by a separate axis", "dimension 1"}},
  });
}

// A later step that removes the reader is rejected too, because no loops would determine the
// layout.
TEST(Pack, IsCheckedOnTheFinishedTrace) {
  const Workbench bench(kMatmul);
  for (const std::string later : {"cache_write C\n", "cache_read B [C]\n", "rfactor C k\n"}) {
    const Illegal illegal = bench.refusal("pack B C\n" + later);
    EXPECT_EQ(illegal.code, IllegalCode::NotAReader) << later;
    EXPECT_EQ(illegal.step, 0);
    EXPECT_NE(bench.explanation("pack B C\n" + later).find("illegal step 1 `pack B C`"),
              std::string::npos);
  }
  const Workbench softmax("softmax:m=4,n=8");
  EXPECT_EQ(softmax.refusal("cache_read X [E]\npack X.read E\ncompute_inline E").code,
            IllegalCode::NotAReader);
}

}  // namespace
}  // namespace tilewright::schedule::testing
