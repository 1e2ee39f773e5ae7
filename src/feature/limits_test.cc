#include "feature/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "schedule/intrinsics_testing.h"
#include "schedule/testing.h"

namespace tilewright::feature {
namespace {

using schedule::IntrinsicTable;
using schedule::testing::Workbench;
using testing::HasSubstr;

struct Case {
  const char* what;
  const char* workload;
  const char* trace;
  int threads;
  double share_of_peak;    // at which its time lies, where all bandwidth is plenty
  double share_of_memory;  // not 0: memory is the nearest ceiling instead
  const char* says;
};

constexpr const char* kTiled =
    "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\nannotate C j.1 vectorize\n"
    "annotate C i.1 unroll\nannotate C j.0 parallel\n";

const Case kCases[] = {
    {"near the peak", "matmul:m=512,n=512,k=512", kTiled, 2, 0.95, 0,
     "Arithmetic limits it: 95 % of the FMA peak"},
    {"near the bandwidth", "matmul:m=512,n=512,k=512", kTiled, 2, 0.1, 0.9,
     "The bandwidth of memory limits it"},
    {"one thread", "matmul:m=64,n=64,k=64", "reorder C [i, k, j]\nannotate C j vectorize\n", 2, 0.2,
     0, "runs on one of 2 threads"},
    {"no vectors", "matmul:m=64,n=64,k=64", "annotate C i parallel\n", 2, 0.02, 0,
     "has no vectorized loop: it uses one of 16 lanes"},
    {"few sums", "matmul:m=64,n=64,k=64",
     "split C j [16]\nreorder C [i, j.0, k, j.1]\nannotate C j.1 vectorize\nannotate C i "
     "parallel\n",
     2, 0.2, 0, "Only 1 accumulator is in flight"},
    {"many sums", "matmul:m=64,n=64,k=64",
     "split C i [32]\nreorder C [i.0, k, i.1, j]\nannotate C j vectorize\nannotate C i.1 unroll\n"
     "annotate C i.0 parallel\n",
     2, 0.3, 0, "128 accumulators in C exceed the 32 vector registers"},
    {"gaps", "matmul:m=64,n=64,k=64,transpose_b=1",
     "split C j [32]\nreorder C [i, j.0, k, j.1]\nannotate C j.1 vectorize\nannotate C i "
     "parallel\n",
     2, 0.05, 0, "take B with gaps"},
    {"imbalance", "matmul:m=3,n=512,k=64",
     "split C j [256]\nreorder C [i, j.0, k, j.1]\nannotate C j.1 vectorize\nannotate C i "
     "parallel\n",
     2, 0.3, 0, "3 parallel iterations on 2 threads keep them busy 75 %"},
    {"lanes", "matmul:m=64,n=20,k=64",
     "split C i [8]\nreorder C [i.0, k, i.1, j]\nannotate C j vectorize\nannotate C i.1 unroll\n"
     "annotate C i.0 parallel\n",
     2, 0.3, 0, "vectorized loop of 20 fills 62 % of its lanes"},
    {"a ragged tile", "matmul:m=64,n=60,k=64",
     "split C i [8]\nsplit C j [32]\nreorder C [i.0, j.0, k, i.1, j.1]\nannotate C j.1 vectorize\n"
     "annotate C i.1 unroll\nannotate C i.0 parallel\n",
     2, 0.3, 0, "47 % of an axis are in a smaller last tile"},
    {"recomputed", "softmax:m=64,n=64",
     "compute_inline E\nannotate Y i parallel\nannotate Y j vectorize\nannotate S i parallel\n", 2,
     0.1, 0, "times the FLOP of the workload"},
};

TEST(Limits, NameTheLikelyBottleneck) {
  for (const Case& c : kCases) {
    const Workbench bench(c.workload);
    const schedule::LoopTree tree = bench.tree(c.trace);
    const Target target = parse_target("x86-64-v4").value().with_threads(c.threads);
    Machine machine;
    machine.cores = 2;
    machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64},
                      {.level = 2, .size_bytes = 1 << 20, .line_bytes = 64}};
    const Traffic traffic = estimate_traffic(tree, memory_levels(target, machine));
    constexpr double kPeak = 200;
    const double latency_ns = traffic.flop / (c.share_of_peak * kPeak);
    Ceilings ceilings{.gflops = kPeak, .gigabytes_per_s = {0, 0, 0}};
    if (c.share_of_memory > 0) {
      ceilings.gigabytes_per_s[2] = traffic.levels[2].bytes / latency_ns / c.share_of_memory;
    }
    const std::vector<Share> shares = shares_of(traffic, ceilings, latency_ns);
    const auto sentences = likely_limits(traffic, nest_facts(tree, target), target, shares);
    std::string text;
    for (const std::string& sentence : sentences) text += sentence + "\n";
    EXPECT_THAT(text, HasSubstr(c.says)) << c.what;
    EXPECT_LE(sentences.size(), 3u) << c.what;
  }
}

TEST(Limits, ExceededPeakIsNotALimit) {
  const Workbench bench("matmul:m=512,n=512,k=512");
  const schedule::LoopTree tree = bench.tree("");
  const Target target = parse_target("x86-64-v4").value();
  const Traffic traffic = estimate_traffic(tree, memory_levels(target, Machine{}));
  const auto sentences_of = [&](double memory) {
    const std::vector<Share> shares = {{"FMA peak", 150, 200, 0.75}, {"memory", 10, 10, memory}};
    return likely_limits(traffic, nest_facts(tree, target), target, shares);
  };
  EXPECT_THAT(sentences_of(1.05)[0], HasSubstr("The bandwidth of memory limits it"));
  const std::vector<std::string> sentences = sentences_of(1.36);
  EXPECT_THAT(sentences[0], HasSubstr("Arithmetic limits it"));
  EXPECT_EQ(sentences.back(),
            "The estimate for memory does not hold: it would be 136 % of the peak.");
  EXPECT_LE(sentences.size(), 3u);
}

TEST(Limits, UntimedProgramsListMissingLoopProperties) {
  const Workbench bench("matmul:m=512,n=512,k=512");
  const Target target = parse_target("x86-64-v4;threads=2").value();
  for (const bool tiled : {false, true}) {
    const schedule::LoopTree tree = bench.tree(tiled ? kTiled : "");
    const Traffic traffic = estimate_traffic(tree, memory_levels(target, Machine{}));
    const auto sentences = likely_limits(traffic, nest_facts(tree, target), target, {});
    ASSERT_FALSE(sentences.empty());
    EXPECT_THAT(sentences[0], HasSubstr(tiled ? "lack none of the usual properties" : "one of 2"));
  }
}

TEST(Limits, DevicesHaveNoCpuLimits) {
  const Workbench bench("matmul:m=64,n=60,k=64");
  const Target device = parse_target("cuda:sm_90").value();
  Machine machine;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64}};
  const std::vector<MemoryLevel> levels = memory_levels(device, machine);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].beyond, "memory");
  const auto sentences_of = [&](const char* trace) {
    const schedule::LoopTree tree = bench.tree(trace);
    return likely_limits(estimate_traffic(tree, levels), nest_facts(tree, device), device, {});
  };
  EXPECT_THAT(sentences_of(""), testing::ElementsAre(HasSubstr("on a device are not estimated")));
  EXPECT_THAT(sentences_of("split C j [32]\n"),
              testing::ElementsAre(HasSubstr("47 % of an axis are in a smaller last tile")));
}

TEST(NestFacts, CountsSumsVectorsAndTasks) {
  const Workbench bench("matmul:m=512,n=512,k=512");
  const NestFacts facts =
      nest_facts(bench.tree(kTiled), parse_target("x86-64-v4;threads=2").value());
  EXPECT_EQ(facts.hottest.text(), "C");
  EXPECT_EQ(facts.sums, 16);
  EXPECT_EQ(facts.vector_length, 32);
  EXPECT_EQ(facts.tasks, 16);
  EXPECT_EQ(facts.balance, 1);
  EXPECT_TRUE(facts.with_gaps.op.empty());
  const NestFacts device =
      nest_facts(bench.tree("bind C i block_x\nbind C j thread_x"), *parse_target("cuda:sm_80"));
  EXPECT_EQ(device.tasks, 512 * 512);
}

// The lanes of an intrinsic are a vector, its rows are accumulators, and its factors are neither.
TEST(NestFacts, CountsSumsOfIntrinsics) {
  struct Tensorized {
    Workbench bench;
    std::string trace;
    int64_t sums;
  };
  const std::string tiles =
      "split C i [4, 2]\nsplit C j [16]\nsplit C k [4]\n"
      "reorder C [i.0, j.0, k.0, i.1, i.2, j.1, k.1]\nannotate C i.1 unroll\npack B C\n"
      "tensorize C i.2 toy_tile\n";
  const std::string amx =
      "split acc r [16]\nsplit acc l [2, 16]\nsplit acc g [16]\nannotate acc l.1 unroll\n"
      "reorder acc [r.0, l.0, g.0, l.1, r.1, l.2, g.1, f]\ntensorize acc r.1 amx_tile\n";
  const IntrinsicTable table = schedule::testing::tile_intrinsics();
  const std::string bytes = "matmul:m=512,n=512,k=512,dtype=u8,dtype_b=i8,constant=B";
  const std::string trace = read_file(TILEWRIGHT_SOURCE_DIR "/bench/traces/VNNI.512.trace").value();
  const Tensorized cases[] = {
      {Workbench(bytes), trace, 16},
      {Workbench(bytes, table), tiles, 4 * 2},
      {Workbench(schedule::testing::amx_dag(64, 64, 64, 256), table), amx, 2 * 16},
  };
  const Target target = parse_target("x86-64-v4:avx512vnni;threads=2").value();
  for (const Tensorized& c : cases) {
    const NestFacts facts = nest_facts(c.bench.tree(c.trace), target);
    EXPECT_TRUE(facts.vectorized && facts.reduces) << c.trace;
    EXPECT_EQ(facts.sums, c.sums) << c.trace;
    EXPECT_EQ(facts.vector_length, 16) << c.trace;
    EXPECT_EQ(facts.lanes_used, 1) << c.trace;
  }
}

}  // namespace
}  // namespace tilewright::feature
