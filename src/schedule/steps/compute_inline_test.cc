#include "schedule/steps/compute_inline.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(ComputeInline, Legal) {
  check_legal({
      {"elementwise:shape=4x8,chain=relu+add+exp", "", "compute_inline T2", R"(
T2: inlined
for i < 4
  for j < 8
    T1 (4x8) <- X
for i < 4
  for j < 8
    Y (4x8) <- T1, B2
)"},
      // Into a stage that is inlined as well: both end up in the reader.
      {"elementwise:shape=4x8,chain=relu+add+exp", "compute_inline T2\n", "compute_inline T1", R"(
T1: inlined
T2: inlined
for i < 4
  for j < 8
    Y (4x8) <- X, B2
)"},
      {"elementwise:shape=4x8,chain=relu+add+exp", "compute_inline T1\n", "compute_inline T2", R"(
T1: inlined
T2: inlined
for i < 4
  for j < 8
    Y (4x8) <- X, B2
)"},
      {"conv2d:h=4,w=4,ci=2,co=3,kernel=3,pad=1", "", "compute_inline P", R"(
P: inlined
for n < 1
  for y < 4
    for x < 4
      for c < 3
        for ry < 3
          for rx < 3
            for rc < 2
              Y (1x4x4x3) <- X, W
)"},
      // Inlined into both readers, which then read X twice.
      {"softmax:m=4,n=8", "", "compute_inline E", R"(
E: inlined
for i < 4
  for k < 8
    M (4) <- X
for i < 4
  for k < 8
    S (4) <- X, M
for i < 4
  R (4) <- S
for i < 4
  for j < 8
    Y (4x8) <- X, M, R
)"},
      // A copy is not a reduction, though its operator is one.
      {"conv2d_bias_bn_relu:h=4,w=4,ci=2,co=3,kernel=1", "cache_write C\n", "compute_inline C", R"(
C: inlined
for n < 1
  for y < 4
    for x < 4
      for c < 3
        for ry < 1
          for rx < 1
            for rc < 2
              C.write (1x4x4x3) <- X, W
for n < 1
  for y < 4
    for x < 4
      for c < 3
        T1 (1x4x4x3) <- C.write, bias
for n < 1
  for y < 4
    for x < 4
      for c < 3
        T2 (1x4x4x3) <- T1, scale
for n < 1
  for y < 4
    for x < 4
      for c < 3
        T3 (1x4x4x3) <- T2, shift
for n < 1
  for y < 4
    for x < 4
      for c < 3
        Y (1x4x4x3) <- T3
)"},
      // Its splits are removed with its loops.
      {"elementwise:shape=4x8,chain=relu+exp", "split T1 j [4]\ncompute_at T1 Y i\n",
       "compute_inline T1", R"(
T1: inlined
for i < 4
  for j < 8
    Y (4x8) <- X
)"},
  });
}

TEST(ComputeInline, Illegal) {
  const std::string chain = "elementwise:shape=4x8,chain=relu+add+exp";
  check_illegal({
      {chain, "", "compute_inline Y", IllegalCode::StageIsOutput, {"Y is an output"}},
      {chain, "", "compute_inline X", IllegalCode::StageIsInput, {"X is an input"}},
      {chain, "", "compute_inline T9", IllegalCode::NoSuchStage, {"no stage T9", "X, T1"}},
      {chain,
       "compute_inline T1\n",
       "compute_inline T1",
       IllegalCode::StageIsInlined,
       {"T1 is inlined"}},
      {chain,
       "annotate T1 i parallel\n",
       "compute_inline T1",
       IllegalCode::LoopIsAnnotated,
       {"loop i of T1"}},
      {chain,
       "compute_at T1 T2 i\n",
       "compute_inline T2",
       IllegalCode::LoopIsAttachPoint,
       {"computed at loop i of T2"}},
      {"softmax:m=4,n=8",
       "",
       "compute_inline S",
       IllegalCode::StageHasReduction,
       {"S is a reduction"}},
      {"softmax:m=4,n=8",
       "rfactor S k\n",
       "compute_inline S.rfactor",
       IllegalCode::StageHasReduction,
       {"S.rfactor is a reduction"}},
  });
}

}  // namespace
}  // namespace tilewright::schedule::testing
