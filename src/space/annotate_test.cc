#include "space/annotate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

using schedule::Annotation;
using schedule::HoleKind;
using schedule::Sketch;

bool has_hole(const Sketch& sketch, HoleKind kind) {
  return std::ranges::count(sketch.holes, kind, &schedule::Hole::kind) > 0;
}

bool names(const Sketch& sketch, std::string_view stage) {
  return to_text(sketch.trace).contains(" " + std::string(stage) + " ");
}

TEST(Annotate, AddsHolesForUndecidedAnnotations) {
  const LayoutBench bench("elementwise:shape=512x96,chain=scale(2)");
  const Sketch sketch = annotate(bench.space, {});
  EXPECT_EQ(sketch.name, "plain");
  EXPECT_TRUE(has_hole(sketch, HoleKind::Tile));
  EXPECT_TRUE(has_hole(sketch, HoleKind::Parallel));
  EXPECT_TRUE(to_text(sketch.trace).contains("vectorize"));
}

TEST(Annotate, EveryGenomeIsLegal) {
  for (const char* text : {"matmul:m=24,n=40,k=56", "softmax:m=32,n=100",
                           "pool:op=max,spatial=14x14,c=20,kernel=3,stride=2"}) {
    SCOPED_TRACE(text);
    const LayoutBench bench(text);
    const Sketch sketch = annotate(bench.space, {});
    Rng rng(5);
    schedule::Trace trace;
    schedule::LoopTree tree;
    for (int n = 0; n < 50; ++n) {
      schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
      EXPECT_FALSE(schedule::apply(bench.initial, trace, &tree)) << to_text(trace);
    }
  }
}

TEST(Annotate, FinishedStagesAreUnchanged) {
  const LayoutBench bench("softmax:m=32,n=64");
  EXPECT_TRUE(names(annotate(bench.space, {}), "S"));
  const Sketch sketch = annotate(bench.space, {.done = {{Name("S")}}});
  EXPECT_FALSE(names(sketch, "S"));
  EXPECT_TRUE(names(sketch, "Y"));
}

TEST(Annotate, NamesHaveNoTrailingComma) {
  const LayoutBench bench("elementwise:shape=64x96,chain=scale(2)");
  Draft draft;
  draft.sketch.name = "inline A, ";
  EXPECT_EQ(annotate(bench.space, draft).name, "inline A");
}

TEST(Annotate, LargeResultsMayUseStreamingStores) {
  const auto streams = [](std::string_view text, std::set<std::string> off = {}) {
    const LayoutBench bench(text, std::move(off));
    return to_text(annotate(bench.space, {}).trace).contains("stream");
  };
  EXPECT_TRUE(streams("elementwise:shape=1024x1024,chain=scale(2)"));
  EXPECT_FALSE(streams("elementwise:shape=1024x1023,chain=scale(2)"));
  EXPECT_FALSE(streams("elementwise:shape=1024x1024,chain=scale(2)", {"stream"}));
}

}  // namespace
}  // namespace tilewright::space
