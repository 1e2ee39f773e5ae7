#include "feature/traffic.h"

#include <gtest/gtest.h>

#include "heuristic/default_trace.h"
#include "schedule/testing.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::feature {
namespace {

using schedule::testing::Workbench;

// One level of that capacity, with elements as the unit of transfer.
std::vector<MemoryLevel> one_level(int64_t capacity) {
  return {{.name = "level", .capacity = capacity, .beyond = "beyond"}};
}

double bytes_of(const Traffic& traffic, std::string_view name, size_t level = 0) {
  for (const BufferTraffic& buffer : traffic.buffers) {
    if (buffer.name.text() == name) return buffer.bytes[level];
  }
  return 0;
}

struct HandCount {
  const char* what;
  const char* workload;
  const char* trace;
  int64_t capacity;
  double a, b, c;
};

// All programs are C[i, j] += A[i, k] * B[k, j] in f32.
constexpr HandCount kCounts[] = {
    {"all fits: once each", "matmul:m=4,n=4,k=4", "", 192, 64, 64, 64},
    {"one i fits: once each", "matmul:m=4,n=4,k=4", "", 100, 64, 64, 64},
    {"one j fits: B for each i", "matmul:m=4,n=4,k=4", "", 40, 64, 256, 64},
    {"one k fits: A and B for each j", "matmul:m=4,n=4,k=4", "", 12, 256, 256, 64},
    {"nothing fits: every use", "matmul:m=4,n=4,k=4", "", 4, 256, 256, 512},
    {"k outside: C again for each k", "matmul:m=4,n=4,k=4", "reorder C [k, i, j]\n", 12, 64, 256,
     512},
    // One k of the tile: 8 of A, 32 of B, 256 of C = 1184 bytes. B for each of 2 rows of tiles, A
    // for each of 2 columns.
    {"a register tile", "matmul:m=16,n=64,k=32",
     "split C i [8]\nsplit C j [32]\nreorder C [i.0, j.0, k, i.1, j.1]\n", 2048, 4096, 16384, 4096},
    // A remainder: 10 rows are a tile and a quarter; B is read for each.
    {"a ragged tile", "matmul:m=10,n=32,k=32", "split C i [8]\nreorder C [i.0, k, i.1, j]\n", 2048,
     1280, 5120, 1280},
};

TEST(Traffic, MatchesHandCountsOfSmallMatmuls) {
  for (const HandCount& count : kCounts) {
    const Workbench bench(count.workload);
    const schedule::LoopTree tree = bench.tree(count.trace);
    const Traffic traffic = estimate_traffic(tree, one_level(count.capacity));
    EXPECT_EQ(bytes_of(traffic, "A"), count.a) << count.what;
    EXPECT_EQ(bytes_of(traffic, "B"), count.b) << count.what;
    EXPECT_EQ(bytes_of(traffic, "C"), count.c) << count.what;
    EXPECT_EQ(traffic.levels[0].bytes, count.a + count.b + count.c) << count.what;
  }
}

TEST(Traffic, PartialLinesCountAsWhole) {
  const Workbench bench("matmul:m=64,n=64,k=64");
  const schedule::LoopTree tree = bench.tree("");
  std::vector<MemoryLevel> levels = one_level(6000);
  levels[0].granule = 64;
  // One j: a row of A in 4 lines, a column of B in 64 lines, one line of C: 4416 bytes. j is the
  // boundary: for each i all of B.
  const Traffic traffic = estimate_traffic(tree, levels);
  EXPECT_EQ(bytes_of(traffic, "B"), 64.0 * 64 * 64 * 4);
  EXPECT_EQ(bytes_of(traffic, "A"), 64.0 * 64 * 4);
}

// 24 x 16 accumulators are 1536 bytes. Together with the reads of an iteration of k.0 they do not
// fit into 2048 bytes, but registers keep them: they are loaded and stored once per tile.
TEST(Traffic, AccumulatorsMoveOncePerTile) {
  const Workbench bench("matmul:m=24,n=64,k=64");
  const schedule::LoopTree tree =
      bench.tree("split C j [16]\nsplit C k [16]\nreorder C [j.0, k.0, k.1, i, j.1]\n");
  std::vector<MemoryLevel> levels = one_level(2048);
  EXPECT_GT(bytes_of(estimate_traffic(tree, levels), "C"), 24.0 * 64 * 4);
  levels[0].keeps_sums = true;
  EXPECT_EQ(bytes_of(estimate_traffic(tree, levels), "C"), 24.0 * 64 * 4);
}

TEST(Traffic, BuffersInsideATileCauseNone) {
  const Workbench bench("matmul:m=64,n=64,k=64");
  const schedule::LoopTree tree = bench.tree(
      "cache_write C\nsplit C i [4]\nsplit C j [16]\nreorder C [i.0, j.0, i.1, j.1]\n"
      "compute_at C.write C j.0\nreorder C.write [k, i, j]\n");
  const Traffic traffic = estimate_traffic(tree, one_level(10000));
  EXPECT_EQ(bytes_of(traffic, "C.write"), 0);
  EXPECT_EQ(bytes_of(traffic, "C"), 64.0 * 64 * 4);
}

TEST(Traffic, CountsRecomputation) {
  const Workbench bench("softmax:m=64,n=64");
  const schedule::LoopTree once = bench.tree("");
  const schedule::LoopTree inlined = bench.tree("compute_inline E\n");
  const Traffic first = estimate_traffic(once, one_level(100));
  const Traffic second = estimate_traffic(inlined, one_level(100));
  EXPECT_EQ(first.computed_flop, first.flop);
  EXPECT_EQ(second.flop, first.flop);
  EXPECT_GT(second.computed_flop, first.flop);
}

// For every workload of the suite: farther levels move no more than nearer ones (in lines of one
// size), and memory moves at least all arguments.
TEST(Traffic, IsMonotoneAndAtLeastCompulsory) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  Machine machine;
  machine.cores = 2;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64},
                    {.level = 2, .size_bytes = 1 << 20, .line_bytes = 64},
                    {.level = 3, .size_bytes = 32 << 20, .line_bytes = 64, .shared_by = 2}};
  for (const SuiteRow& row : suite_rows()) {
    const Result<Workload> workload = parse_workload(row.name);
    ASSERT_TRUE(workload);
    const auto initial = schedule::initial_tree(*workload);
    for (const int variant : {0, 1}) {
      const auto trace = heuristic::default_trace(*workload, target, variant);
      ASSERT_TRUE(trace);
      const auto tree = schedule::apply_or_explain(*initial, *trace);
      ASSERT_TRUE(tree);
      const Traffic traffic = estimate_traffic(*tree, memory_levels(target, machine));
      ASSERT_EQ(traffic.levels.size(), 4u);
      EXPECT_EQ(traffic.levels.back().beyond, "memory");
      for (size_t k = 2; k < traffic.levels.size(); ++k) {
        EXPECT_LE(traffic.levels[k].bytes, 1.0001 * traffic.levels[k - 1].bytes) << row.name;
      }
      EXPECT_GE(traffic.levels.back().bytes, 0.999 * traffic.compulsory_bytes) << row.name;
      EXPECT_GE(traffic.computed_flop, 0.999 * traffic.flop) << row.name;
    }
  }
}

TEST(Traffic, WarmCallsHitTheCacheThatHoldsAllData) {
  const Workbench bench("matmul:m=32,n=32,k=32");  // 12 KiB in all
  const schedule::LoopTree tree = bench.tree("");
  const std::vector<MemoryLevel> levels = {
      {.name = "registers", .capacity = 1 << 20, .keeps_sums = true},
      {.name = "L1", .capacity = 4096, .granule = 64},
      {.name = "L2", .capacity = 8192, .holds = 16384, .granule = 64},
      {.name = "L3", .capacity = 1 << 20, .granule = 64}};
  const Traffic first = estimate_traffic(tree, levels);
  const Traffic warm = estimate_traffic(tree, levels, Calls::Warm);
  EXPECT_EQ(first.stays_in, "");
  EXPECT_EQ(warm.stays_in, "L2");
  for (const size_t level : {0u, 1u}) {
    EXPECT_EQ(warm.levels[level].bytes, first.levels[level].bytes);
    EXPECT_GE(warm.levels[level].bytes, warm.compulsory_bytes);
  }
  for (const size_t level : {2u, 3u}) {
    EXPECT_EQ(warm.levels[level].bytes, 0);
    EXPECT_GE(first.levels[level].bytes, first.compulsory_bytes);
  }
}

TEST(Traffic, LevelsFollowTheMachine) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  Machine machine;
  machine.cores = 2;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64},
                    {.level = 3, .size_bytes = 8 << 20, .line_bytes = 64, .shared_by = 2}};
  const std::vector<MemoryLevel> levels = memory_levels(target, machine);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].name, "registers");
  EXPECT_EQ(levels[0].capacity, 2048);
  EXPECT_EQ(levels[0].beyond, "L1");
  EXPECT_EQ(levels[1].beyond, "L3");
  EXPECT_EQ(levels[2].capacity, 4 << 20);
  EXPECT_EQ(levels[2].beyond, "memory");
}

}  // namespace
}  // namespace tilewright::feature
