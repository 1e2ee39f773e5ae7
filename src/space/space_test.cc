#include "space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "schedule/apply.h"
#include "space/sketch_fault.h"
#include "space/space_testing.h"
#include "space/tile_domain.h"
#include "task/suite.h"
#include "te/dag_builder.h"
#include "te/ops/softmax.h"

namespace tilewright::space {
namespace {

using schedule::Sketch;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SpaceOptions as_published() {
  SpaceOptions options{.cores = 20};
  for (const Extension& extension : extensions()) options.off.emplace_back(extension.name);
  return options;
}

Task chained_matmuls() {
  te::DagBuilder builder;
  const auto a = builder.placeholder("A", {512, 512}, ir::Scalar::F32);
  const auto b = builder.placeholder("B", {512, 512}, ir::Scalar::F32);
  const auto w = builder.placeholder("W", {512, 512}, ir::Scalar::F32);
  const auto multiply = [&](std::string_view name, te::TensorId x, te::TensorId y) {
    const auto i = builder.axis("i", 512), j = builder.axis("j", 512), k = builder.axis("k", 512);
    return builder.reduce(name, {i, j}, {k}, ir::BinaryOp::Add,
                          builder.read(x, {i.var, k.var}) * builder.read(y, {k.var, j.var}),
                          ir::Scalar::F32);
  };
  multiply("D", multiply("C", a, b), w);
  return {make_workload(std::move(builder).build(), {}, "two matmuls"),
          parse_target("x86-64-v4;threads=2").value()};
}

TEST(Space, HasThePublishedNumberOfSketches) {
  const SpaceOptions options = as_published();
  const auto count = [&](std::string_view text) {
    return space_of(task_of(text), options).sketches().size();
  };
  EXPECT_EQ(count("matmul:m=512,n=512,k=512"), 3u);
  EXPECT_EQ(count("matmul:m=8,n=8,k=512"), 5u);
  EXPECT_EQ(space_of(chained_matmuls(), options).sketches().size(), 9u);
  EXPECT_EQ(count("conv2d_bias_bn_relu:n=1,h=56,w=56,ci=512,co=512,kernel=3,stride=1,pad=1"), 3u);
  EXPECT_EQ(count("pool:op=max,n=1,spatial=56x56,c=512,kernel=3,stride=2,pad=1"), 1u);
  EXPECT_EQ(count("reduce:op=min,shape=10x1024,axes=1"), 3u);
  EXPECT_EQ(count("softmax:m=1,n=1024"), 9u);
  EXPECT_EQ(count("softmax:m=1536,n=128"), 9u);
  EXPECT_EQ(count("conv2d_winograd:n=1,h=28,w=28,ci=128,co=128,pad=1"), 3u);
  EXPECT_EQ(count("reduce:op=sum,shape=128,axes=0"), 3u);
}

// Of the legal programs of a space, how many compute I inside Y, and the shape of I there.
std::map<std::string, int> places_of_inverse(std::string_view text, const SpaceOptions& options) {
  const Task task = task_of(text);
  const Space space = space_of(task, options);
  std::map<std::string, int> places;
  for_random_trees(space, 200, [&](const schedule::LoopTree& tree) {
    const schedule::Stage& inverse = tree.stage(tree.find_stage({Name("I")}));
    if (inverse.place != schedule::Attachment::At) return;
    const auto& extent = tree.buffer(inverse.first_buffer).extent;
    std::string shape;
    for (size_t d = 0; d + 1 < extent.size(); ++d) shape += std::to_string(extent[d]) + " ";
    ++places[shape];
  });
  return places;
}

// At the loop of a tile of Y, one tile of I is computed: 4x4 of one image.
TEST(Space, ComputesAnInverseTransformAtItsTile) {
  for (const char* text : {"conv2d_winograd:h=16,w=14,ci=32,co=32,pad=1,weight=transformed",
                           "conv2d_winograd:h=3,w=13,ci=32,co=40,pad=1,weight=transformed,m=2"}) {
    const bool small = std::string_view(text).ends_with("m=2");
    const auto places = places_of_inverse(text, {});
    EXPECT_TRUE(places.contains(small ? "2 2 1 1 " : "4 4 1 1 ")) << text;
    EXPECT_TRUE(places_of_inverse(text, {.off = {"locations"}}).empty()) << text;
  }
}

// A rule that makes the whole schedule of C, `split C i [4]`, with these holes.
SketchRule rule_of_rows(std::vector<schedule::Hole> holes = {}) {
  return {.name = "rows_of_four",
          .what = "",
          .applies =
              [](const SpaceContext&, const Draft&, StageName stage) {
                return stage.op == Name("C") ? Applies::SkipTheRest : Applies::No;
              },
          .apply = [holes = std::move(holes)](const SpaceContext& context, const Draft& draft,
                                              StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            next.sketch.trace.steps.emplace_back(schedule::Split{stage, Name("i"), {4}});
            next.sketch.holes = holes;
            next.sketch.name = "rows of four";
            next.done.push_back(stage);
            return {{std::move(next), previous_stage(context, stage)}};
          }};
}

// A rule of the user's comes before all others.
TEST(Space, AcceptsCustomRules) {
  const SketchRule rule = rule_of_rows();
  const Task task = task_of("matmul:m=64,n=64,k=64");
  const Space space = space_of(task, {.custom = {rule}});
  ASSERT_EQ(space.sketches().size(), 1u);
  EXPECT_EQ(space.sketches()[0].name, "rows of four");
  EXPECT_EQ(to_text(space.sketches()[0].trace), "split C i [4]\n");
  EXPECT_EQ(space_of(task, {.off = {"rows_of_four"}, .custom = {rule}}).sketches().size(),
            space_of(task).sketches().size());
}

// Otherwise choices could not be found, and holes would refer to missing steps.
TEST(Space, SketchesOfCustomRulesAreChecked) {
  const Task task = task_of("matmul:m=64,n=64,k=64");
  const auto error_with = [&](int16_t step, std::vector<schedule::Factors> tiles) -> std::string {
    const schedule::Hole hole{.step = step,
                              .stage = {Name("C")},
                              .domain = schedule::TileDomain{.choices = std::move(tiles)},
                              .kind = schedule::HoleKind::Tile};
    const auto made = Space::make(task, {.custom = {rule_of_rows({hole})}});
    return made ? "it was taken" : made.error().message;
  };
  EXPECT_EQ(error_with(0, {{2}, {4}}), "it was taken");
  const std::string sketch = task.workload.text + ": sketch rows of four: hole 0";
  EXPECT_EQ(error_with(0, {{4}, {2}, {8}}),
            sketch +
                ": its tile sizes must be distinct and sorted, by the first factor or by the "
                "last");
  EXPECT_EQ(error_with(7, {{2}, {4}}), sketch + " names a step that is not there, or is no split");
}

TEST(Space, SketchesOfBuiltInRulesAreValid) {
  for (const SuiteRow& row : suite_rows()) {
    const Space space = space_of(task_of(row.name));
    for (const Sketch& sketch : space.sketches()) {
      EXPECT_EQ(fault_of(sketch), "") << row.name << ": " << sketch.name;
    }
  }
}

// A matmul whose reduce axis k has a hint.
Task hinted_matmul(te::AxisHints hints, int64_t k_extent) {
  te::DagBuilder builder;
  const auto a = builder.placeholder("A", {64, 3, k_extent}, ir::Scalar::F32);
  const auto b = builder.placeholder("B", {3, k_extent, 64}, ir::Scalar::F32);
  const auto i = builder.axis("i", 64), j = builder.axis("j", 64);
  const auto r = builder.axis("r", 3), k = builder.axis("k", k_extent, hints);
  builder.reduce("C", {i, j}, {k, r}, ir::BinaryOp::Add,
                 builder.read(a, {i.var, r.var, k.var}) * builder.read(b, {r.var, k.var, j.var}),
                 ir::Scalar::F32);
  return {make_workload(std::move(builder).build(), {}, "hinted"),
          parse_target("x86-64-v4;threads=2").value()};
}

// The number of `count` random programs that unroll the innermost loop of axis k of C.
int unrolled_of(const Task& task, int count) {
  int unrolled = 0;
  for_random_trees(space_of(task), count, [&](const schedule::LoopTree& tree) {
    std::string last;
    bool is_unrolled = false;
    for (const schedule::LoopVar& var : tree.vars) {
      const std::string& text = var.name.text();
      if ((text != "k" && !text.starts_with("k.")) || text < last) continue;
      last = text;
      is_unrolled = var.annotation == schedule::Annotation::Unroll;
    }
    unrolled += is_unrolled ? 1 : 0;
  });
  return unrolled;
}

// Also if it is not split (a window), and although the axis inside it need not be unrolled.
TEST(Space, UnrollsByHint) {
  for (const int64_t extent : {4, 32}) {
    EXPECT_EQ(unrolled_of(hinted_matmul({.always_unroll_inner = true}, extent), 50), 50) << extent;
    EXPECT_LT(unrolled_of(hinted_matmul({}, extent), 50), 50) << extent;
  }
}

// A loop of axis `axis` of any stage that is a part of it.
bool is_cut(const schedule::LoopTree& tree, Name axis) {
  return std::ranges::any_of(
      tree.vars, [&](const schedule::LoopVar& var) { return var.name == axis && var.is_split(); });
}

// The number of `count` random programs that split the axis.
int cut_of(const Task& task, Name axis, int count) {
  int cut = 0;
  for_random_trees(space_of(task), count,
                   [&](const schedule::LoopTree& tree) { cut += is_cut(tree, axis) ? 1 : 0; });
  return cut;
}

// A sum over rows, which is not tiled.
Task hinted_sum(te::AxisHints row, te::AxisHints column) {
  te::DagBuilder builder;
  const auto x = builder.placeholder("X", {640, 320}, ir::Scalar::F32);
  const auto i = builder.axis("i", 640, row), k = builder.axis("k", 320, column);
  builder.reduce("Y", {i}, {k}, ir::BinaryOp::Add, builder.read(x, {i.var, k.var}),
                 ir::Scalar::F32);
  return {make_workload(std::move(builder).build(), {}, "hinted"),
          parse_target("x86-64-v4;threads=2").value()};
}

TEST(Space, KeepsAxesThatAHintForbidsToSplit) {
  EXPECT_EQ(cut_of(hinted_matmul({.no_split_at_inner = true}, 32), Name("k"), 50), 0);
  EXPECT_GT(cut_of(hinted_matmul({}, 32), Name("k"), 50), 0);
  const te::AxisHints whole{.no_split_at_inner = true};
  EXPECT_EQ(cut_of(hinted_sum(whole, {}), Name("i"), 50), 0);
  EXPECT_EQ(cut_of(hinted_sum({}, whole), Name("k"), 50), 0);
  EXPECT_GT(cut_of(hinted_sum({}, {}), Name("i"), 50), 0);
  EXPECT_GT(cut_of(hinted_sum({}, {}), Name("k"), 50), 0);
}

// Over several short axes: threads and lanes at once.
TEST(Space, FoldsShortAxesWithThreadsAndLanes) {
  int both = 0;
  const auto look = [&](const schedule::LoopTree& tree) {
    const auto has = [&](schedule::Annotation what) {
      return std::ranges::any_of(tree.vars, [&](const schedule::LoopVar& var) {
        return var.annotation == what && var.is_loop() && var.extent > 1;
      });
    };
    both += has(schedule::Annotation::Parallel) && has(schedule::Annotation::Vectorize) ? 1 : 0;
  };
  for_random_trees(space_of(task_of("reduce:op=sum,shape=12x12x12x12x12,axes=0x1x2x3x4")), 60,
                   look);
  EXPECT_GT(both, 5);
}

// No loop of the implementation runs up to an extent.
TEST(Space, AcceptsHugeExtents) {
  for (const char* const text :
       {"matmul:m=100000007,n=16,k=2", "reduce:op=sum,shape=2000000000,axes=0",
        "matmul:m=735134400,n=16,k=2", "softmax:m=1396755360,n=7"}) {
    const Space space = space_of(task_of(text));
    for (const Sketch& sketch : space.sketches()) {
      for (const schedule::Hole& hole : sketch.holes) {
        EXPECT_LE(hole.size(), kMaxTileChoices) << text << ", " << sketch.name;
      }
    }
  }
}

// A graph of many tiled operators has more combinations than can be kept, or counted.
TEST(Space, SizeIsLimitedForManyOperators) {
  te::DagBuilder builder;
  auto x = builder.placeholder("X", {64, 64}, ir::Scalar::F32);
  for (int n = 0; n < 24; ++n) {
    const auto w = builder.placeholder("W" + std::to_string(n), {64, 64}, ir::Scalar::F32);
    const auto i = builder.axis("i", 64), j = builder.axis("j", 64), k = builder.axis("k", 64);
    x = builder.reduce("C" + std::to_string(n), {i, j}, {k}, ir::BinaryOp::Add,
                       builder.read(x, {i.var, k.var}) * builder.read(w, {k.var, j.var}),
                       ir::Scalar::F32);
  }
  const Task task{make_workload(std::move(builder).build(), {}, "many"),
                  parse_target("x86-64-v4;threads=2").value()};
  const Space space = space_of(task);
  EXPECT_GE(space.sketches().size(), 100u);
  EXPECT_LE(space.sketches().size(), 200u);
}

TEST(Space, IsDeterministic) {
  const auto print = [] {
    std::string all;
    const Space space = space_of(task_of("CBR1"));
    for (const Sketch& sketch : space.sketches()) {
      all += sketch.name + to_text(sketch.trace);
      for (const schedule::Hole& hole : sketch.holes) all += std::to_string(hole.size()) + " ";
    }
    return all;
  };
  EXPECT_EQ(print(), print());
}

// The share of genomes that apply.
double legal_share(const Space& space, int samples) {
  Rng rng(7);
  schedule::Trace trace;
  schedule::LoopTree tree;
  int legal = 0;
  for (int k = 0; k < samples; ++k) {
    const Sketch& sketch = space.sketches()[rng.below(space.sketches().size())];
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    if (!schedule::apply(space.initial(), trace, &tree)) ++legal;
  }
  return double(legal) / samples;
}

TEST(Space, HasAttentionInOneNest) {
  const Task task = task_of("attention:b=1,heads=4,seq=197,dim=64");
  const auto whole = [](const Space& space) -> const Sketch* {
    for (const Sketch& sketch : space.sketches()) {
      if (sketch.name == "all by rows of Y") return &sketch;
    }
    return nullptr;
  };
  const Space space = space_of(task);
  const Sketch* sketch = whole(space);
  ASSERT_NE(sketch, nullptr);
  EXPECT_EQ(whole(space_of(task, {.off = {"chain_nest"}})), nullptr);
  EXPECT_EQ(whole(space_of(task_of("SFM0"))), nullptr);
  Rng rng(3);
  schedule::Trace trace;
  schedule::LoopTree tree;
  int legal = 0;
  for (int k = 0; k < 200; ++k) {
    schedule::instantiate(*sketch, schedule::sample(*sketch, rng), &trace);
    if (schedule::apply(space.initial(), trace, &tree)) continue;
    ++legal;
    for (const char* name : {"C", "M", "E", "S", "O"}) {
      EXPECT_EQ(tree.stage(tree.find_stage({Name(name)})).place, schedule::Attachment::At) << name;
    }
  }
  EXPECT_GT(legal, 50);
}

// The steps of attention in one nest: C[i, w] = sum over t of Q[i, t] K[w, t], and so on.
std::string chain_text(te::AxisHints column, te::AxisHints summed) {
  te::DagBuilder builder;
  const auto q = builder.placeholder("Q", {128, 64}, ir::Scalar::F32);
  const auto k = builder.placeholder("K", {256, 64}, ir::Scalar::F32);
  const auto v = builder.placeholder("V", {256, 64}, ir::Scalar::F32);
  const auto i = builder.axis("i", 128), w = builder.axis("w", 256, column);
  const auto t = builder.axis("t", 64, summed);
  const auto scores = builder.reduce(
      "C", {i, w}, {t}, ir::BinaryOp::Add,
      builder.read(q, {i.var, t.var}) * builder.read(k, {w.var, t.var}), ir::Scalar::F32);
  const te::Rows rows = te::rows_with_columns(builder, {{.name = "i", .extent = 128}}, 256);
  const te::SoftmaxStages stages = te::add_softmax(builder, scores, rows);
  const auto r = builder.axis("i", 128), d = builder.axis("d", 64), j = builder.axis("j", 256);
  const auto mixed =
      builder.reduce("O", {r, d}, {j}, ir::BinaryOp::Add,
                     builder.read(stages.powers, {r.var, j.var}) * builder.read(v, {j.var, d.var}),
                     ir::Scalar::F32);
  const auto y = builder.axis("i", 128), e = builder.axis("d", 64);
  builder.compute("Y", {y, e},
                  builder.read(mixed, {y.var, e.var}) * builder.read(stages.reciprocals, {y.var}));
  const Task task{make_workload(std::move(builder).build(), {}, "hinted"),
                  parse_target("x86-64-v4;threads=2").value()};
  const Space space = space_of(task);
  for (const Sketch& sketch : space.sketches()) {
    if (sketch.name == "all by rows of Y") return to_text(sketch.trace);
  }
  return "no chain";
}

TEST(Space, KeepsAxesOfAChainThatAHintForbidsToSplit) {
  const te::AxisHints whole{.no_split_at_inner = true};
  const std::string free = chain_text({}, {});
  EXPECT_THAT(free, HasSubstr("split C i "));
  EXPECT_THAT(free, HasSubstr("split C w "));
  EXPECT_THAT(free, HasSubstr("split C t "));
  EXPECT_THAT(chain_text(whole, {}), AllOf(HasSubstr("split C i "), Not(HasSubstr("split C w ")),
                                           HasSubstr("split C t ")));
  EXPECT_THAT(chain_text({}, whole), AllOf(HasSubstr("split C i "), HasSubstr("split C w "),
                                           Not(HasSubstr("split C t "))));
}

TEST(Space, MostGenomesOfTheSuiteAreLegal) {
  for (const SuiteRow& row : suite_rows()) {
    const Space space = space_of(task_of(row.name));
    EXPECT_GT(legal_share(space, 200), 0.25) << row.name;
    EXPECT_LE(space.sketches().size(), 48u) << row.name;
  }
}

}  // namespace
}  // namespace tilewright::space
