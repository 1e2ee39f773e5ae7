#include "schedule/sketch.h"

#include <gtest/gtest.h>

#include <map>

#include "schedule/explain.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

Step step_of(std::string_view text) { return trace_of(text).steps.at(0); }

TEST(TileDomain, OuterLevelIsRoundedUp) {
  EXPECT_EQ((TileDomain{.choices = {}, .extent = 70}.outer_of({4, 8})), 3);
  EXPECT_EQ((TileDomain{.choices = {}, .extent = 64}.outer_of({4, 8})), 2);
  EXPECT_EQ((TileDomain{.choices = {}, .extent = 4}.outer_of({4, 8})), 1);
  EXPECT_EQ((TileDomain{.choices = {}, .extent = 0}.outer_of({4, 8})), 1);  // not known
}

// split C i ?, cache_write C off or on, a step that depends on it, and a location.
Sketch matmul_sketch() {
  Sketch sketch;
  sketch.trace = trace_of(
      "cache_write C\n"
      "split C i [1]\n"
      "compute_at C.write C i.0\n"
      "split C.write k [4]\n"
      "cache_read A [C.write]\n"
      "compute_at A.read C i.0\n"
      "annotate C i.0 parallel\n");
  sketch.holes.push_back({.step = 0,
                          .stage = stage_of("C"),
                          .domain = StepDomain{{std::nullopt, step_of("cache_write C")}}});
  sketch.holes.push_back(
      {.step = 1,
       .stage = stage_of("C"),
       .domain = TileDomain{.choices = {{1}, {2}, {4}, {8}, {16}, {32}, {64}}, .extent = 64}});
  sketch.holes.push_back({.step = 2,
                          .stage = stage_of("C.write"),
                          .domain = StepDomain{{step_of("compute_at C.write C i.0"),
                                                step_of("compute_at C.write C i.1"),
                                                step_of("compute_root C.write")}}});
  return sketch;
}

TEST(Sketch, SizeIsTheProductOfItsHoles) {
  EXPECT_EQ(matmul_sketch().size(), 2.0 * 7 * 3);
  EXPECT_EQ(Sketch{}.size(), 1.0);
}

TEST(Sketch, InstantiateFillsTheHoles) {
  Trace trace;
  instantiate(matmul_sketch(), Genome{{1, 3, 1}}, &trace);
  EXPECT_EQ(to_text(trace),
            "cache_write C\n"
            "split C i [8]\n"
            "compute_at C.write C i.1\n"
            "split C.write k [4]\n"
            "cache_read A [C.write]\n"
            "compute_at A.read C i.0\n"
            "annotate C i.0 parallel\n");
}

// Without C.write, A.read has no reader: it is dropped, and so are the steps that name it.
TEST(Sketch, DisabledStepDisablesItsDependents) {
  Trace trace;
  instantiate(matmul_sketch(), Genome{{0, 0, 2}}, &trace);
  EXPECT_EQ(to_text(trace), "split C i [1]\nannotate C i.0 parallel\n");
  instantiate(matmul_sketch(), Genome{{1, 6, 2}}, &trace);  // and the trace is good for the next
  EXPECT_EQ(trace.steps.size(), 7u);
}

TEST(Sketch, AnyNumberOfStepsMayBeDisabled) {
  Sketch sketch;
  for (int16_t k = 0; k < 200; ++k) {
    sketch.trace.steps.push_back(step_of("annotate C i unroll"));
    sketch.holes.push_back({.step = k,
                            .stage = stage_of("C"),
                            .domain = StepDomain{{std::nullopt, step_of("annotate C i unroll")}}});
  }
  Trace trace;
  instantiate(sketch, Genome{std::vector<uint16_t>(200, 0)}, &trace);
  EXPECT_TRUE(trace.steps.empty());
}

// Two splits of one axis: the inner one splits the factor of the outer one.
TEST(Sketch, SplitsOfOneAxisShareAChoice) {
  Sketch sketch;
  sketch.trace = trace_of(
      "cache_write C\n"
      "split C i [1, 1]\n"
      "compute_at C.write C i.1\n"
      "split C.write i [1]\n");
  TileDomain tiles;
  tiles.choices = {{4, 2, 8}, {1, 16, 4}};
  tiles.slices = {{.step = 1, .from = 0, .parts = 2, .folds = true},
                  {.step = 3, .from = 2, .parts = 1, .folds = false}};
  sketch.holes.push_back(
      {.step = 1, .stage = stage_of("C"), .domain = tiles, .kind = HoleKind::Tile});
  Trace trace;
  instantiate(sketch, Genome{{0}}, &trace);
  EXPECT_EQ(to_text(trace),
            "cache_write C\nsplit C i [4, 16]\ncompute_at C.write C i.1\nsplit C.write i [8]\n");
  instantiate(sketch, Genome{{1}}, &trace);
  EXPECT_EQ(to_text(trace.steps[1]), "split C i [1, 64]");
}

// One decision in two places: a stage at root has threads, an attached one has none, and of an
// inlined one nothing is left.
TEST(Sketch, ChoiceMayInsertStepsAtSeveralPositions) {
  Sketch sketch;
  sketch.trace = trace_of(
      "compute_root P\n"
      "split P y [4]\n"
      "annotate P y.0 parallel\n"
      "split Y y [2]\n");
  const Step at = step_of("compute_at P Y y.0"), inlined = step_of("compute_inline P");
  const Step fuse = step_of("fuse P [y.0, x]"), threads = step_of("annotate P (y.0,x) parallel");
  sketch.holes.push_back(
      {.step = 0,
       .stage = stage_of("P"),
       .domain = SiteDomain{.sites = {0, 2},
                            .choices = {{{}, {fuse, threads}}, {{at}, {}}, {{inlined}, {}}}},
       .kind = HoleKind::Location});
  Trace trace;
  instantiate(sketch, Genome{{0}}, &trace);
  EXPECT_EQ(to_text(trace),
            "split P y [4]\nfuse P [y.0, x]\nannotate P (y.0,x) parallel\nsplit Y y [2]\n");
  instantiate(sketch, Genome{{1}}, &trace);
  EXPECT_EQ(to_text(trace), "compute_at P Y y.0\nsplit P y [4]\nsplit Y y [2]\n");
  instantiate(sketch, Genome{{2}}, &trace);
  EXPECT_EQ(to_text(trace), "compute_inline P\nsplit Y y [2]\n");
}

TEST(Sketch, OneTailHoleServesAllItsSplits) {
  Sketch sketch;
  sketch.trace = trace_of("split C i [3]\nsplit C j [5]\n");
  sketch.holes.push_back(
      {.step = 0,
       .stage = stage_of("C"),
       .domain = TailDomain{.choices = {Tail::Peel, Tail::Overlap}, .steps = {0, 1}},
       .kind = HoleKind::Tail});
  Trace trace;
  instantiate(sketch, Genome{{1}}, &trace);
  EXPECT_EQ(to_text(trace), "split C i [3] tail=overlap\nsplit C j [5] tail=overlap\n");
}

TEST(Sketch, ChecksTheGenome) {
  Trace trace;
  EXPECT_THROW(instantiate(matmul_sketch(), Genome{{1, 3}}, &trace), InternalError);
  EXPECT_THROW(instantiate(matmul_sketch(), Genome{{1, 7, 0}}, &trace), InternalError);
}

TEST(Sketch, SampleIsDeterministicForASeed) {
  const Sketch sketch = matmul_sketch();
  Rng a(5), b(5), c(6);
  bool differs = false;
  for (int k = 0; k < 20; ++k) {
    const Genome genome = sample(sketch, a);
    EXPECT_EQ(genome, sample(sketch, b));
    differs |= !(genome == sample(sketch, c));
  }
  EXPECT_TRUE(differs);
}

// Chi-square over the whole space: 42 genomes, 41 degrees of freedom; 99.9 % are below 74.7.
TEST(Sketch, SampleIsUniform) {
  const Sketch sketch = matmul_sketch();
  Rng rng(3);
  std::map<std::vector<uint16_t>, int> count;
  constexpr int kDraws = 42 * 200;
  for (int k = 0; k < kDraws; ++k) ++count[sample(sketch, rng).genes];
  EXPECT_EQ(count.size(), 42u);
  double chi_square = 0;
  for (const auto& [genes, seen] : count) chi_square += (seen - 200.0) * (seen - 200.0) / 200.0;
  EXPECT_LT(chi_square, 74.7);
}

TEST(Sketch, EveryGenomeOfALegalSketchApplies) {
  const Workbench bench("matmul:m=64,n=8,k=8");
  const Sketch sketch = matmul_sketch();
  Trace trace;
  LoopTree tree;
  for (uint16_t a = 0; a < 2; ++a) {
    for (uint16_t b = 0; b < 7; ++b) {
      instantiate(sketch, Genome{{a, b, 0}}, &trace);
      const Illegal illegal = apply(bench.initial(), trace, &tree);
      EXPECT_FALSE(illegal) << explain(bench.initial(), trace, illegal);
    }
  }
}

}  // namespace
}  // namespace tilewright::schedule::testing
