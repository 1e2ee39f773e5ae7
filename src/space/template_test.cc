// Spaces of given sketches.
#include "space/template.h"

#include <gtest/gtest.h>

#include "space/space_hash.h"
#include "space/space_testing.h"

namespace tilewright::space {
namespace {

using schedule::Sketch;

constexpr std::string_view kMatmul = "matmul:m=64,n=64,k=32,dtype=f32";

// i in tiles of a choice, j in lanes.
Sketch some_sketch(std::vector<schedule::Factors> choices = {{2}, {4}, {8}}) {
  Result<schedule::Trace> trace = schedule::trace_from_text(
      "split C i [4]\nsplit C j [16]\nreorder C [i.0, j.0, i.1, k, j.1]\n"
      "annotate C j.1 vectorize\n");
  CHECK(trace.has_value(), "{}", trace.error().message);
  Sketch sketch{.trace = *trace, .holes = {}, .name = "some"};
  sketch.holes.push_back(
      {.step = 0,
       .stage = schedule::StageName::parse("C").value(),
       .domain = schedule::TileDomain{.choices = std::move(choices), .extent = 64},
       .kind = schedule::HoleKind::Tile});
  return sketch;
}

std::string error_of(std::vector<Sketch> sketches) {
  const Result<Space> space = Space::of_sketches(task_of(kMatmul), std::move(sketches));
  return space ? "it was taken" : space.error().message;
}

TEST(Template, GivenSketchesAreASpace) {
  const Task task = task_of(kMatmul);
  const Space space = Space::of_sketches(task, {some_sketch(), some_sketch({{1}, {64}})}).value();
  EXPECT_EQ(space.sketches().size(), 2U);
  EXPECT_EQ(space.size(), 5);
  for_random_trees(space, 10,
                   [](const schedule::LoopTree& tree) { EXPECT_FALSE(tree.vars.empty()); });
}

schedule::Hole hole_of(decltype(schedule::Hole::domain) domain, int16_t step = 0) {
  return {.step = step,
          .stage = schedule::StageName::parse("C").value(),
          .domain = std::move(domain),
          .kind = schedule::HoleKind::Other};
}

// Of some_sketch with these holes; steps 0 and 1 are splits, 2 a reorder, 3 an annotation.
std::string error_of_holes(std::vector<schedule::Hole> holes) {
  Sketch sketch = some_sketch();
  sketch.holes = std::move(holes);
  const std::string begin = std::string(kMatmul) + ": sketch 0 some: ";
  std::string error = error_of({std::move(sketch)});
  return error.starts_with(begin) ? error.substr(begin.size()) : error;
}

TEST(Template, SketchesThatCannotBeFilledAreErrors) {
  using namespace schedule;  // NOLINT(google-build-using-namespace): a table of domains
  EXPECT_EQ(error_of({}), "there are no sketches");
  Sketch lost = some_sketch();
  lost.holes[0].step = 9;
  EXPECT_EQ(error_of({some_sketch(), lost}),
            std::string(kMatmul) +
                ": sketch 1 some: hole 0 names a step that is not there, or is no split");
  Sketch illegal = some_sketch();
  illegal.trace.steps.emplace_back(Annotate{{Name("C")}, Name("q"), Annotation::Unroll});
  EXPECT_EQ(error_of({illegal}),
            std::string(kMatmul) + ": sketch 0 some: no legal schedule was found");

  const Step split = some_sketch().trace.steps[0], reorder = some_sketch().trace.steps[2];
  const TileDomain tiles{.choices = {{2}, {4}}, .extent = 64};
  const TailDomain tails{.choices = {Tail::Peel, Tail::Mask}, .steps = {0}};
  const auto sliced = [](uint8_t from, uint8_t parts, bool folds) {
    return TileDomain{.choices = {{2, 4}, {4, 2}}, .slices = {{0, from, parts, folds}}};
  };
  const struct {
    std::vector<Hole> holes;
    std::string_view error;
  } rows[] = {
      {{hole_of(tiles, 2)}, "hole 0 names a step that is not there, or is no split"},
      {{hole_of(tiles, -1)}, "hole 0 names a step that is not there, or is no split"},
      {{hole_of(TileDomain{})}, "hole 0 has 0 choices; it needs 1 to 65535"},
      {{hole_of(TileDomain{.choices = {{4}, {0}}})}, "hole 0: no split takes the factors [0]"},
      {{hole_of(TileDomain{.choices = {{4}, {}}})}, "hole 0: no split takes the factors []"},
      {{hole_of(TileDomain{.choices = {{2}, {8}, {4}}, .extent = 64})},
       "hole 0: its tile sizes must be distinct and sorted, by the first factor or by the last"},
      {{hole_of(TileDomain{.choices = {{2}, {4}, {4}}, .extent = 64})},
       "hole 0: its tile sizes must be distinct and sorted, by the first factor or by the last"},
      {{hole_of(TailDomain{.choices = {Tail::Peel}, .steps = {}})},
       "hole 0 is of tails, but names no split"},
      {{hole_of(TailDomain{.choices = {Tail::Peel}, .steps = {2}})},
       "hole 0 names a step that is not there, or is no split"},
      {{hole_of(sliced(1, 2, false))},
       "hole 0: a slice of 2 factors from number 1 on does not fit [2, 4]"},
      {{hole_of(sliced(2, 1, false))},
       "hole 0: a slice of 1 factors from number 2 on does not fit [2, 4]"},
      {{hole_of(sliced(0, 0, true))},
       "hole 0: a slice of 0 factors from number 0 on does not fit [2, 4]"},
      {{hole_of(SiteDomain{.sites = {2}, .choices = {{{}, {}}}})},
       "hole 0: a choice is for 2 sites; there are 1"},
      {{hole_of(tiles), hole_of(StepDomain{{split, reorder}})},
       "hole 1 makes something else of step 0, which hole 0 fills as a split"},
      {{hole_of(StepDomain{{split, reorder}}), hole_of(tails)},
       "hole 0 makes something else of step 0, which hole 1 fills as a split"},
      {{hole_of(tiles), hole_of(tiles)}, "holes 0 and 1 fill the same step 0"},
      {{hole_of(tails), hole_of(tiles), hole_of(tails)}, "holes 0 and 2 fill the same step 0"},
      {{hole_of(StepDomain{{std::nullopt, reorder}}, 2),
        hole_of(SiteDomain{.sites = {3, 2}, .choices = {{{}, {}}}})},
       "holes 0 and 1 fill the same step 2"},
      {{hole_of(SiteDomain{.sites = {0}, .choices = {{{split}}}}), hole_of(tiles)},
       "holes 0 and 1 fill the same step 0"},
      {{hole_of(SiteDomain{.sites = {2, 2}, .choices = {{{reorder}, {reorder}}}})},
       "hole 0 fills step 2 twice"},
  };
  for (const auto& row : rows) EXPECT_EQ(error_of_holes(row.holes), row.error);
}

TEST(Template, TileSizesAreInOneOfTwoOrders) {
  const auto error_with = [](std::vector<schedule::Factors> choices) {
    return error_of_holes({hole_of(schedule::TileDomain{.choices = std::move(choices)})});
  };
  EXPECT_EQ(error_with({{1, 1}, {1, 2}, {2, 1}}), "it was taken");  // by the first factor
  EXPECT_EQ(error_with({{1, 1}, {2, 1}, {1, 2}}), "it was taken");  // by the last
  EXPECT_EQ(error_with({{1, 2}, {1, 1}, {2, 1}}),
            "hole 0: its tile sizes must be distinct and sorted, by the first factor or by the "
            "last");
  // Of any number of levels.
  EXPECT_EQ(error_with({{1}, {1, 2}, {2}, {2, 1}}), "it was taken");
  EXPECT_EQ(error_with({{1}, {2, 1}, {2}, {1, 2}}), "it was taken");
}

// Tile sizes and tail of one split, which may also be off.
TEST(Template, HolesMayFillDifferentFieldsOfAStep) {
  using namespace schedule;  // NOLINT(google-build-using-namespace): a table of domains
  const Step split = some_sketch().trace.steps[0];
  EXPECT_EQ(
      error_of_holes({hole_of(StepDomain{{std::nullopt, split}}),
                      hole_of(TileDomain{.choices = {{2}, {5}}, .extent = 64}),
                      hole_of(TailDomain{.choices = {Tail::Peel, Tail::Mask}, .steps = {0, 1}})}),
      "it was taken");
}

TEST(Template, SketchesOfTheRulesCanBeGiven) {
  for (const char* const text : {"C2D2", "CBR1", "SFM0", "attention:b=1,heads=4,seq=197,dim=64"}) {
    const Task task = task_of(text);
    const Space made = space_of(task);
    const auto given = Space::of_sketches(task, {made.sketches().begin(), made.sketches().end()});
    EXPECT_TRUE(given.has_value()) << given.error().message;
  }
}

TEST(Template, ARowOfTheTableMakesTheSpace) {
  SpaceOptions options;
  options.templates.add(make_row<std::vector<Sketch>, TemplateContext>(
      "toy", "tiles of a product", NoOptions{},
      [](const TemplateContext& context, const NoOptions&) -> Result<std::vector<Sketch>> {
        if (context.task->workload.text.starts_with("matmul")) {
          return std::vector<Sketch>{some_sketch()};
        }
        return fail(ErrorKind::Unsupported, "the template toy is for products");
      }));
  options.from = options.templates.parse("toy").value();
  EXPECT_EQ(space_of(task_of(kMatmul), options).size(), 3);
  EXPECT_EQ(Space::make(task_of("softmax:m=32,n=32"), options).error().message,
            "the template toy is for products");
  options.off = {"pack"};
  EXPECT_EQ(Space::make(task_of(kMatmul), options).error().message,
            "template toy: rules have no part in its space");
}

TEST(SpaceHash, DependsOnTheGeneratedSketches) {
  const auto hash = [](std::vector<Sketch> sketches) { return hash_of(sketches); };
  const Hash128 plain = hash({some_sketch()});
  EXPECT_EQ(plain, hash({some_sketch()}));
  EXPECT_NE(plain, hash({some_sketch({{2}, {4}, {16}})}));
  EXPECT_NE(plain, hash({some_sketch({{2}, {4}})}));
  EXPECT_NE(plain, hash({some_sketch(), some_sketch()}));
  Sketch renamed = some_sketch();
  renamed.name = "other";
  EXPECT_EQ(plain, hash({renamed}));
  Sketch other = some_sketch();
  other.trace.steps.pop_back();
  EXPECT_NE(plain, hash({other}));
  // Of the rules' sketches.
  const Task task = task_of(kMatmul);
  EXPECT_EQ(hash_of(space_of(task).sketches()), hash_of(space_of(task).sketches()));
  EXPECT_NE(hash_of(space_of(task).sketches()),
            hash_of(space_of(task, {.off = {"tile_structures"}}).sketches()));
}

}  // namespace
}  // namespace tilewright::space
