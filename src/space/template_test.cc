// Spaces of given sketches.
#include "space/template.h"

#include <gtest/gtest.h>

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

TEST(Template, SketchesThatCannotBeFilledAreErrors) {
  EXPECT_EQ(error_of({}), "there are no sketches");
  Sketch lost = some_sketch();
  lost.holes[0].step = 9;
  EXPECT_EQ(error_of({some_sketch(), lost}),
            std::string(kMatmul) +
                ": sketch 1 some: hole 0 names a step that is not there, or is not a split");
  lost.holes[0].step = 2;  // the reorder
  EXPECT_NE(error_of({lost}).find("or is not a split"), std::string::npos);
  EXPECT_EQ(error_of({some_sketch({})}),
            std::string(kMatmul) + ": sketch 0 some: hole 0 has 0 choices; it needs 1 to 65535");
  EXPECT_EQ(error_of({some_sketch({{0}})}),
            std::string(kMatmul) + ": sketch 0 some: no legal schedule was found");
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

TEST(SpaceHash, IsOfWhatSketchesMake) {
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
