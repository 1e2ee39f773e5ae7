#include "space/space.h"

#include <gtest/gtest.h>

#include "schedule/apply.h"
#include "space/tile_domain.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::space {
namespace {

using schedule::Sketch;

Task task_of(std::string_view text, std::string_view target = "x86-64-v4;threads=2") {
  Result<Workload> workload = parse_workload(text);
  CHECK(workload.has_value(), "{}", workload.error().message);
  return {*workload, parse_target(target).value()};
}

Space space_of(const Task& task, const SpaceOptions& options = {}) {
  Result<Space> space = Space::make(task, options);
  CHECK(space.has_value(), "{}", space.error().message);
  return *std::move(space);
}

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

TEST(Space, HasAsManySketchesAsPublished) {
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

TEST(Space, NamesTurnRulesAndExtensionsOff) {
  const Task task = task_of("C2D2");
  const Space whole = space_of(task);
  for (const Extension& extension : extensions()) {
    const Space less = space_of(task, {.off = {std::string(extension.name)}});
    if (extension.name == "tile_structures") {  // the others have reductions cut more finely then
      EXPECT_LT(less.sketches().size(), whole.sketches().size());
    } else {
      EXPECT_LE(less.size(), whole.size()) << extension.name;
    }
  }
  const Space uncached = space_of(task, {.off = {"cache_write"}});
  for (const Sketch& sketch : uncached.sketches()) {
    EXPECT_EQ(to_text(sketch.trace).find("cache_write"), std::string::npos) << sketch.name;
  }
  const auto texts = [&](const SpaceOptions& options) {
    std::string all;
    const Space space = space_of(task, options);
    for (const Sketch& sketch : space.sketches()) {
      for (const schedule::Hole& hole : sketch.holes) {
        all += std::string(hole_kind_text(hole.kind)) + " ";
      }
    }
    return all;
  };
  EXPECT_NE(texts({}).find("pack"), std::string::npos);
  EXPECT_EQ(texts({.off = {"pack"}}).find("pack"), std::string::npos);
  EXPECT_EQ(texts({.off = {"prefetch"}}).find("prefetch"), std::string::npos);
  EXPECT_EQ(texts({.off = {"tails"}}).find("tail"), std::string::npos);
  const Result<Space> wrong = Space::make(task, {.off = {"packing"}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("packing"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("tile_and_fuse"), std::string::npos);
}

// A rule of the user's comes before all others.
TEST(Space, TakesRulesOfTheUser) {
  SketchRule rule{.name = "rows_of_four",
                  .what = "",
                  .applies =
                      [](const SpaceContext&, const Draft&, StageName stage) {
                        return stage.op == Name("C") ? Applies::SkipTheRest : Applies::No;
                      },
                  .apply = [](const SpaceContext& context, const Draft& draft,
                              StageName stage) -> std::vector<NextDraft> {
                    Draft next = draft;
                    next.sketch.trace.steps.emplace_back(schedule::Split{stage, Name("i"), {4}});
                    next.sketch.name = "rows of four";
                    next.done.push_back(stage);
                    return {{std::move(next), previous_stage(context, stage)}};
                  }};
  const Task task = task_of("matmul:m=64,n=64,k=64");
  const Space space = space_of(task, {.custom = {rule}});
  ASSERT_EQ(space.sketches().size(), 1u);
  EXPECT_EQ(space.sketches()[0].name, "rows of four");
  EXPECT_EQ(to_text(space.sketches()[0].trace), "split C i [4]\n");
  EXPECT_EQ(space_of(task, {.off = {"rows_of_four"}, .custom = {rule}}).sketches().size(),
            space_of(task).sketches().size());
}

TEST(Space, IsTheSameEachTime) {
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

int64_t product_of(const schedule::Factors& factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) product *= factor;
  return product;
}

TEST(TileDomain, IsExactWithoutTails) {
  // The counts that are published for four levels with at most 64 in the innermost.
  for (const auto& [extent, count] :
       {std::pair(7, 4), {14, 16}, {28, 40}, {56, 80}, {128, 119}, {512, 210}, {1024, 266}}) {
    const auto domain = tile_domain({.extent = extent, .factors = 3});
    EXPECT_EQ(domain.choices.size(), static_cast<size_t>(count)) << extent;
    EXPECT_FALSE(leaves_remainder(domain));
  }
}

TEST(TileDomain, WithTailsLeavesLittleOver) {
  for (const int64_t extent : {1, 2, 7, 13, 14, 56, 109, 509, 1000, 14336}) {
    for (const int64_t lanes : {0, 8, 16}) {
      const auto domain =
          tile_domain({.extent = extent, .factors = 3, .tails = true, .lanes = lanes});
      ASSERT_FALSE(domain.choices.empty());
      EXPECT_LE(domain.choices.size(), kMaxTileChoices);
      for (size_t k = 0; k < domain.choices.size(); ++k) {
        const schedule::Factors& f = domain.choices[k];
        const int64_t tiles = (extent + f[2] - 1) / f[2];
        EXPECT_LE(tiles * f[2], extent + extent / 3) << extent;
        if (lanes > 0 && extent >= lanes && extent > 64) {
          EXPECT_EQ(f[2] % lanes, 0) << extent;
        }
        EXPECT_LE(product_of(f), 4 * extent);
        if (k > 0) {
          const schedule::Factors& before = domain.choices[k - 1];
          EXPECT_TRUE(
              std::lexicographical_compare(before.begin(), before.end(), f.begin(), f.end()));
        }
      }
    }
  }
  EXPECT_TRUE(leaves_remainder(tile_domain({.extent = 109, .tails = true})));
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

TEST(Space, MostGenomesOfTheSuiteAreLegal) {
  for (const SuiteRow& row : suite_rows()) {
    const Space space = space_of(task_of(row.name));
    EXPECT_GT(legal_share(space, 200), 0.25) << row.name;
    EXPECT_LE(space.sketches().size(), 48u) << row.name;
  }
}

}  // namespace
}  // namespace tilewright::space
