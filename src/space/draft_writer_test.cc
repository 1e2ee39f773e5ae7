#include "space/draft_writer.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace tilewright::space {
namespace {

using schedule::Annotate;
using schedule::Annotation;
using schedule::HoleKind;
using schedule::Sketch;
using schedule::StageName;

const StageName kStage{Name("C")};

std::string trace_of(const Sketch& sketch, const schedule::Genome& genome) {
  schedule::Trace trace;
  schedule::instantiate(sketch, genome, &trace);
  return to_text(trace);
}

TEST(DraftWriter, SingleChoiceIsNoHole) {
  Sketch sketch;
  DraftWriter writer(sketch);
  writer.add_split(kStage, Name("i"), {.choices = {{8}}, .extent = 64});
  writer.add_one_of(kStage, HoleKind::Other, {{}});
  EXPECT_EQ(to_text(sketch.trace), "split C i [8]\n");
  EXPECT_TRUE(sketch.holes.empty());
}

TEST(DraftWriter, AnnotatesTheTileInRegisters) {
  Sketch sketch;
  const std::vector<Name> loops = {Name("i.1"), Name("j.1")};
  DraftWriter(sketch).annotate_innermost(kStage, loops, Name("j.1"));
  EXPECT_EQ(to_text(sketch.trace), "annotate C i.1 unroll\nannotate C j.1 vectorize\n");
}

TEST(DraftWriter, ASplitWithSeveralSizesIsAHole) {
  Sketch sketch;
  DraftWriter writer(sketch);
  writer.add_split(kStage, Name("i"), {.choices = {{4}, {8}}, .extent = 64});
  ASSERT_EQ(sketch.holes.size(), 1U);
  EXPECT_EQ(sketch.holes[0].kind, HoleKind::Tile);
  EXPECT_EQ(trace_of(sketch, {{1}}), "split C i [8]\n");
}

TEST(DraftWriter, AnOptionalStep) {
  Sketch sketch;
  DraftWriter writer(sketch);
  writer.add_maybe(kStage, HoleKind::Other, Annotate{kStage, Name("j"), Annotation::Stream});
  EXPECT_EQ(trace_of(sketch, {{0}}), "");
  EXPECT_EQ(trace_of(sketch, {{1}}), "annotate C j stream\n");
}

TEST(DraftWriter, OneOfSeveralLists) {
  Sketch sketch;
  DraftWriter writer(sketch);
  const schedule::Step unroll = Annotate{kStage, Name("k"), Annotation::Unroll};
  const schedule::Step lanes = Annotate{kStage, Name("j"), Annotation::Vectorize};
  writer.add_one_of(kStage, HoleKind::Other, {{}, {unroll}, {unroll, lanes}});
  EXPECT_EQ(trace_of(sketch, {{0}}), "");
  EXPECT_EQ(trace_of(sketch, {{2}}), "annotate C k unroll\nannotate C j vectorize\n");
  EXPECT_THROW(writer.add_one_of(kStage, HoleKind::Other, {}), InternalError);
}

TEST(DraftWriter, AHoleFillsSeveralSites) {
  Sketch sketch;
  DraftWriter writer(sketch);
  const schedule::Step first = Annotate{kStage, Name("i"), Annotation::Unroll};
  const schedule::Step second = Annotate{kStage, Name("j"), Annotation::Unroll};
  const int16_t before = writer.add_site(first);
  writer.annotate(kStage, Name("k"), Annotation::Vectorize);
  const int16_t after = writer.add_site(first);
  writer.fill_sites(kStage, HoleKind::Other, {before, after}, {{{first}, {}}, {{}, {second}}});
  EXPECT_EQ(trace_of(sketch, {{0}}), "annotate C i unroll\nannotate C k vectorize\n");
  EXPECT_EQ(trace_of(sketch, {{1}}), "annotate C k vectorize\nannotate C j unroll\n");
}

TEST(DraftWriter, OrderAndFusion) {
  Sketch sketch;
  DraftWriter writer(sketch);
  const std::vector<Name> one = {Name("i")}, two = {Name("j"), Name("i")};
  writer.reorder(kStage, one);  // nothing to order
  writer.reorder(kStage, two);
  EXPECT_EQ(to_text(sketch.trace), "reorder C [j, i]\n");
  EXPECT_TRUE(fuse_loops(kStage, one).steps.empty());
  EXPECT_EQ(fuse_loops(kStage, one).name, Name("i"));
  const FusedLoops fused = fuse_loops(kStage, two);
  EXPECT_EQ(fused.name, Name("(j,i)"));
  ASSERT_EQ(fused.steps.size(), 1U);
  EXPECT_EQ(to_text(fused.steps[0]), "fuse C [j, i]");
}

}  // namespace
}  // namespace tilewright::space
