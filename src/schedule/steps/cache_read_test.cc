#include "schedule/steps/cache_read.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(CacheRead, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=8", "", "cache_read A [C]", R"(
for d0 < 4
  for d1 < 8
    A.read (4x8) <- A
for i < 4
  for j < 6
    for k < 8
      C (4x6) <- A.read, B
)"},
      // Attached, it copies the region of one iteration.
      {"matmul:m=4,n=6,k=8", "cache_read B [C]\ncompute_at B.read C j\n",
       "cache_read A [C] ordinal=3", R"(
for d0 < 4
  for d1 < 8
    A.read.3 (4x8) <- A
for i < 4
  for j < 6
    for d0 < 8
      for d1 < 1
        B.read (8x1) <- B
    for k < 8
      C (4x6) <- A.read.3, B.read
)"},
      // Of a stage, for one of its readers.
      {"softmax:m=4,n=8", "", "cache_read E [Y]", R"(
for i < 4
  for k < 8
    M (4) <- X
for i < 4
  for j < 8
    E (4x8) <- X, M
for i < 4
  for j < 8
    E.read (4x8) <- E
for i < 4
  for k < 8
    S (4) <- E
for i < 4
  R (4) <- S
for i < 4
  for j < 8
    Y (4x8) <- E.read, R
)"},
      {"softmax:m=4,n=8", "", "cache_read X [M, E]", R"(
for d0 < 4
  for d1 < 8
    X.read (4x8) <- X
for i < 4
  for k < 8
    M (4) <- X.read
for i < 4
  for j < 8
    E (4x8) <- X.read, M
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

TEST(CacheRead, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=8";
  check_illegal({
      {matmul, "", "cache_read D [C]", IllegalCode::NoSuchStage, {"no stage D", "A, B, C"}},
      {matmul, "", "cache_read A [D]", IllegalCode::NoSuchStage, {"no stage D"}},
      {matmul, "", "cache_read A []", IllegalCode::NothingReads, {"readers of A", "they are C"}},
      {matmul, "", "cache_read A [C] ordinal=256", IllegalCode::BadOrdinal, {"256", "0 to 255"}},
      {matmul, "", "cache_read A [C] ordinal=-1", IllegalCode::BadOrdinal, {"-1"}},
      {matmul, "", "cache_read A [B]", IllegalCode::StageIsInput, {"B is an input"}},
      {matmul,
       "cache_read A [C]\n",
       "cache_read A.read [C]",
       IllegalCode::AlreadyCached,
       {"A.read is a copy already"}},
      {matmul,
       "rfactor C k\n",
       "cache_read C.rfactor [C]",
       IllegalCode::AlreadyCached,
       {"C.rfactor", "holds partial results"}},
      // C reads the first copy now.
      {matmul,
       "cache_read A [C]\n",
       "cache_read A [C] ordinal=1",
       IllegalCode::NotAReader,
       {"C does not read A", "A.read does"}},
      {matmul,
       "cache_read A [C]\n",
       "cache_read A [C]",
       IllegalCode::StageExists,
       {"a stage A.read already", "another ordinal"}},
      {"softmax:m=4,n=8",
       "",
       "cache_read X [Y]",
       IllegalCode::NotAReader,
       {"Y does not read X", "M, E do"}},
      {"softmax:m=4,n=8",
       "compute_inline E\n",
       "cache_read E [Y]",
       IllegalCode::StageIsInlined,
       {"E is inlined"}},
      {"softmax:m=4,n=8",
       "compute_inline E\n",
       "cache_read X [E]",
       IllegalCode::StageIsInlined,
       {"E is inlined"}},
  });
}

TEST(CacheRead, ChoosesTheMemory) {
  check_legal({
      {"matmul:m=4,n=6,k=8", "cache_read A [C] scope=shared\n", "compute_at A.read C i", R"(
for i < 4
  for d0 < 1
    for d1 < 8
      A.read (1x8) in shared memory <- A
  for j < 6
    for k < 8
      C (4x6) <- A.read, B
)"},
      // The default.
      {"matmul:m=4,n=6,k=8", "cache_read A [C] scope=local\n", "compute_at A.read C i", R"(
for i < 4
  for d0 < 1
    for d1 < 8
      A.read (1x8) <- A
  for j < 6
    for k < 8
      C (4x6) <- A.read, B
)"},
  });
  check_round_trip("cache_read A [C] scope=shared");
  check_round_trip("cache_read A [C] ordinal=2 scope=global");
  check_illegal({{"matmul:m=4,n=6,k=8",
                  "",
                  "cache_read A [C] scope=shared",
                  IllegalCode::ScopeAtRoot,
                  {"A.read is computed at root", "compute_at a loop"}}});
  EXPECT_FALSE(trace_from_text("cache_read A [C] scope=constant"));
}

}  // namespace
}  // namespace tilewright::schedule::testing
