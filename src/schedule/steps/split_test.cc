#include "schedule/steps/split.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Split, Legal) {
  check_legal({
      {"matmul:m=64,n=32,k=16", "", "split C i [4, 8]", R"(
for i.0 < 2
  for i.1 < 4
    for i.2 < 8
      for j < 32
        for k < 16
          C (64x32) <- A, B
)"},
      // A remainder: the last i.0 has 70 - 64 = 6 values left.
      {"matmul:m=70,n=32,k=16", "", "split C i [4, 8]", R"(
for i.0 < 3
  for i.1 < 4 or fewer
    for i.2 < 8 or fewer
      for j < 32
        for k < 16
          C (70x32) <- A, B
)"},
      // Whole tiles of 8 also at the end: the last one begins two rows earlier.
      {"matmul:m=70,n=32,k=16", "", "split C i [4, 8] tail=overlap", R"(
for i.0 < 3
  for i.1 < 4 or fewer
    for i.2 < 8
      for j < 32
        for k < 16
          C (70x32) <- A, B
)"},
      // Room for two rows more.
      {"matmul:m=70,n=32,k=16", "cache_write C\n", "split C.write i [4, 8] tail=pad", R"(
for i.0 < 3
  for i.1 < 4 or fewer
    for i.2 < 8
      for j < 32
        for k < 16
          C.write (72x32) <- A, B
for i < 70
  for j < 32
    C (70x32) <- C.write
)"},
      // A tile larger than the extent.
      {"matmul:m=5,n=32,k=16", "cache_write C\n", "split C.write i [8] tail=pad", R"(
for i.0 < 1
  for i.1 < 8
    for j < 32
      for k < 16
        C.write (8x32) <- A, B
for i < 5
  for j < 32
    C (5x32) <- C.write
)"},
      // A part of a part.
      {"matmul:m=64,n=4,k=3", "split C i [16]\n", "split C i.1 [4]", R"(
for i.0 < 4
  for i.1.0 < 4
    for i.1.1 < 4
      for j < 4
        for k < 3
          C (64x4) <- A, B
)"},
      // A fusion.
      {"matmul:m=4,n=6,k=3", "fuse C [i, j]\n", "split C (i,j) [8]", R"(
for (i,j).0 < 3
  for (i,j).1 < 8
    for k < 3
      C (4x6) <- A, B
)"},
      // A reduce axis.
      {"softmax:m=4,n=32", "", "split S k [16]", R"(
for i < 4
  for k < 32
    M (4) <- X
for i < 4
  for j < 32
    E (4x32) <- X, M
for i < 4
  for k.0 < 2
    for k.1 < 16
      S (4) <- E
for i < 4
  R (4) <- S
for i < 4
  for j < 32
    Y (4x32) <- E, R
)"},
      // One iteration.
      {"matmul:m=1,n=1,k=3", "", "split C i [1]", R"(
for i.0 < 1
  for i.1 < 1
    for j < 1
      for k < 3
        C (1x1) <- A, B
)"},
  });
}

TEST(Split, Illegal) {
  const std::string matmul = "matmul:m=64,n=64,k=64";
  check_illegal({
      {matmul,
       "",
       "split D i [4]",
       IllegalCode::NoSuchStage,
       {"illegal step 1", "no stage D", "A, B, C"}},
      {matmul, "", "split A i [4]", IllegalCode::StageIsInput, {"A is an input", "cache_read"}},
      {matmul, "", "split C x [4]", IllegalCode::NoSuchLoop, {"C has no loop x", "i, j, k"}},
      {matmul,
       "split C i [4]\n",
       "split C i [4]",
       IllegalCode::NoSuchLoop,
       {"illegal step 2", "i.0, i.1, j, k"}},
      {matmul, "", "split C i []", IllegalCode::BadFactor, {"at least one"}},
      {matmul,
       "",
       "split C i [4, 0]",
       IllegalCode::BadFactor,
       {"factor 0", "loop i of C", "from 1"}},
      {matmul, "", "split C i [-8]", IllegalCode::BadFactor, {"factor -8", "from 1 to 2^31"}},
      {matmul, "", "split C i [9223372036854775807]", IllegalCode::BadFactor, {"2^31"}},
      {matmul,
       "annotate C i unroll\n",
       "split C i [4]",
       IllegalCode::LoopIsAnnotated,
       {"loop i of C", "annotate after"}},
      {matmul,
       "cache_read A [C]\ncompute_at A.read C i\n",
       "split C i [4]",
       IllegalCode::LoopIsAttachPoint,
       {"loop i of C", "compute_at comes after"}},
      {"elementwise:shape=8x8,chain=relu+exp",
       "compute_inline T1\n",
       "split T1 i [4]",
       IllegalCode::StageIsInlined,
       {"T1 is inlined"}},
  });
}

TEST(Split, RejectsMoreLoopsThanTheLimit) {
  std::string steps = "split C i [1, 1, 1, 1, 1, 1, 1]\n";
  for (int k = 0; k < 4; ++k)
    steps += "split C i." + std::to_string(k) + " [1, 1, 1, 1, 1, 1, 1]\n";
  const Workbench bench("matmul:m=64,n=64,k=64");
  EXPECT_EQ(bench.refusal(steps).code, IllegalCode::None);  // 8 + 4 * 7 + 2 = 38
  check_illegal({{"matmul:m=64,n=64,k=64",
                  steps,
                  "split C j [2, 2, 2, 2]",
                  IllegalCode::TooManyLoops,
                  {"more than 40 loops"}}});
}

// Parts of an index are terms of a form of fixed size.
TEST(Split, RejectsMoreTermsThanTheLimit) {
  const std::string thirteen = "split C i [2, 2, 2, 2, 2, 2, 2]\nsplit C i.0 [2, 2, 2, 2, 2]\n";
  const Workbench bench("matmul:m=16384,n=4,k=4");
  EXPECT_EQ(bench.refusal(thirteen).code, IllegalCode::None);
  const Illegal illegal = bench.refusal(thirteen + "split C i.0.0 [2]\n");
  EXPECT_EQ(illegal.code, IllegalCode::TooManyTerms);
  EXPECT_NE(bench.explanation(thirteen + "split C i.0.0 [2]\n").find("more than 13 loops"),
            std::string::npos);
}

// A remainder is cut off where the outer part has its last value: outer parts stay outside.
TEST(Split, KeepsTheOrderOfRemainders) {
  const std::string text = "split C i [8]\nreorder C [i.1, i.0]\n";
  EXPECT_EQ(Workbench("matmul:m=64,n=4,k=4").refusal(text).code, IllegalCode::None);
  const Workbench ragged("matmul:m=70,n=4,k=4");
  EXPECT_EQ(ragged.refusal(text).code, IllegalCode::TailOrder);
  EXPECT_EQ(ragged.refusal(text).step, 0);
  EXPECT_NE(ragged.explanation(text).find("part i.0 of C does not run outside the inner parts of "
                                          "its split, which leaves a remainder of 6 of 70"),
            std::string::npos)
      << ragged.explanation(text);
  // One loop of both parts would run in between as well.
  EXPECT_EQ(ragged.refusal("split C i [8]\nfuse C [i.0, i.1]\n").code, IllegalCode::TailOrder);
}

}  // namespace
}  // namespace tilewright::schedule::testing
