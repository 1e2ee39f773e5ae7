#include "schedule/steps/prefetch_next.h"

#include <gtest/gtest.h>

#include "schedule/program_hash.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(PrefetchNext, Legal) {
  check_legal({
      {"matmul:m=64,n=32,k=16", "split C j [16]\nreorder C [j.0, i, k, j.1]\n",
       "prefetch_next C k B", R"(
for j.0 < 2
  for i < 64
    for k < 16
      prefetch B, next tile
      for j.1 < 16
        C (64x32) <- A, B
)"},
  });
}

TEST(PrefetchNext, Illegal) {
  const std::string matmul = "matmul:m=8,n=8,k=8";
  check_illegal({
      {matmul, "", "prefetch_next C k C", IllegalCode::NotAReader, {"C"}},
      {matmul, "", "prefetch_next C q B", IllegalCode::NoSuchLoop, {"i, j, k"}},
      {matmul, "", "prefetch_next C k Q", IllegalCode::NoSuchStage, {"Q"}},
      {matmul, "prefetch_next C k B\n", "split C k [2]", IllegalCode::LoopIsAnnotated, {"k"}},
  });
  const Workbench bench(matmul);
  EXPECT_EQ(bench.refusal("cache_read A [C]\nprefetch_next C j A.read\ncompute_at A.read C j").code,
            IllegalCode::PrefetchUncomputed);
}

TEST(PrefetchNext, ChangesTheProgram) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  const Hash128 one = program_hash(bench.tree("prefetch_next C k B"));
  EXPECT_NE(program_hash(bench.tree("")), one);
  EXPECT_NE(program_hash(bench.tree("prefetch C k B 1")), one);
  EXPECT_NE(program_hash(bench.tree("prefetch_next C k A")), one);
}

}  // namespace
}  // namespace tilewright::schedule::testing
