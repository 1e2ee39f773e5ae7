#include "schedule/steps/prefetch.h"

#include <gtest/gtest.h>

#include "schedule/program_hash.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Prefetch, Legal) {
  check_legal({
      {"matmul:m=64,n=32,k=16", "", "prefetch C k B 4", R"(
for i < 64
  for j < 32
    for k < 16
      prefetch B, 4 ahead
      C (64x32) <- A, B
)"},
      {"matmul:m=64,n=32,k=16", "cache_read A [C]\n", "prefetch A.read d0 A 1", R"(
for d0 < 64
  prefetch A, 1 ahead
  for d1 < 16
    A.read (64x16) <- A
for i < 64
  for j < 32
    for k < 16
      C (64x32) <- A.read, B
)"},
  });
}

TEST(Prefetch, Illegal) {
  const std::string matmul = "matmul:m=8,n=8,k=8";
  check_illegal({
      {matmul, "", "prefetch C k B 0", IllegalCode::BadDistance, {"0"}},
      {matmul, "", "prefetch C k C 1", IllegalCode::NotAReader, {"C"}},
      {matmul, "", "prefetch C q B 1", IllegalCode::NoSuchLoop, {"i, j, k"}},
      {matmul, "", "prefetch C k Q 1", IllegalCode::NoSuchStage, {"Q"}},
      {matmul, "prefetch C k B 1\n", "split C k [2]", IllegalCode::LoopIsAnnotated, {"k"}},
  });
  // A copy that is inserted later.
  const Workbench bench(matmul);
  EXPECT_EQ(bench.refusal("prefetch C k B 1\ncache_read B [C]").code, IllegalCode::NotAReader);
  // A source that moves inside the loop afterwards.
  EXPECT_EQ(bench.refusal("cache_read A [C]\nprefetch C j A.read 1\ncompute_at A.read C j").code,
            IllegalCode::PrefetchUncomputed);
  EXPECT_FALSE(bench.refusal("cache_read A [C]\nprefetch C k A.read 1\ncompute_at A.read C j"));
}

TEST(Prefetch, ChangesTheProgram) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  const Hash128 one = program_hash(bench.tree("prefetch C k B 1"));
  EXPECT_NE(program_hash(bench.tree("")), one);
  EXPECT_NE(program_hash(bench.tree("prefetch C k B 2")), one);
  EXPECT_NE(program_hash(bench.tree("prefetch C k A 1")), one);
}

}  // namespace
}  // namespace tilewright::schedule::testing
