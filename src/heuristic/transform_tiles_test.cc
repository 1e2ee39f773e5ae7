#include "heuristic/transform_tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heuristic/default_trace.h"
#include "schedule/testing.h"
#include "task/parse.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string winograd(const std::string& parameters) {
  return "conv2d_winograd:" + parameters + ",pad=1,weight=transformed";
}

class TransformTiles : public ::testing::Test {
 protected:
  // The loops of the default schedule after those of the products.
  std::string tree_of(const std::string& text) const {
    const Workload workload = parse_workload(text).value();
    const Trace trace = default_trace(workload, target_).value();
    const LoopTree tree = apply_or_explain(*initial_tree(workload), trace).value();
    const std::string all = tree.to_string();
    const size_t products = all.find("M (");
    return all.substr(all.find('\n', products) + 1);
  }

  const Target target_ = parse_target("x86-64-v4;threads=2").value();
};

TEST_F(TransformTiles, TheReaderSelectsTheElementsOfATile) {
  for (const char* m : {"2", "4"}) {
    const Workbench bench(winograd("h=14,w=13,ci=16,co=16,m=" + std::string(m)));
    const LoopTree tree = bench.tree("");
    const auto reader = tile_reader(tree, tree.find_stage(stage_of("I")));
    ASSERT_TRUE(reader.has_value()) << m;
    EXPECT_EQ(reader->stage, tree.find_stage(stage_of("Y")));
    EXPECT_THAT(reader->sides, ElementsAre(0, *m - '0', *m - '0', 0));
  }
}

TEST_F(TransformTiles, OtherStagesHaveNoSuchReader) {
  const Workbench bench("conv2d_winograd:h=14,w=13,ci=16,co=16,pad=1");
  const LoopTree tree = bench.tree("");
  for (const char* stage : {"P", "T", "V", "U", "M", "Y"}) {
    EXPECT_FALSE(tile_reader(tree, tree.find_stage(stage_of(stage)))) << stage;
  }
}

TEST_F(TransformTiles, ATransformIsComputedAtItsTile) {
  EXPECT_EQ(tree_of(winograd("h=16,w=16,ci=64,co=64")),
            "parallel for (n,y.0,x.0) < 16\n"
            "  for c.0 < 4\n"
            "    for n < 1\n"
            "      for p < 1\n"
            "        unroll for a < 4\n"
            "          unroll for b < 4\n"
            "            unroll for ra < 6\n"
            "              unroll for rb < 6\n"
            "                vectorize for c < 16\n"
            "                  I (4x4x1x1x16) <- M\n"
            "    unroll for y.1 < 4\n"
            "      unroll for x.1 < 4\n"
            "        vectorize for c.1 < 16\n"
            "          Y (1x16x16x64) <- I\n");
}

// 7 outputs are a tile of 4 and one of 3.
TEST_F(TransformTiles, CutTilesHaveSeparateCode) {
  const std::string tree = tree_of(winograd("h=7,w=7,ci=64,co=64"));
  EXPECT_THAT(tree, HasSubstr("unroll for a < 4 or fewer"));
  EXPECT_THAT(tree, HasSubstr("unroll for y.1 < 4 or fewer"));
  EXPECT_THAT(tree, HasSubstr("I (4x4x1x1x16) <- M"));
}

TEST_F(TransformTiles, AnImageOfOneTileIsNotSplit) {
  const std::string tree = tree_of(winograd("h=3,w=4,ci=64,co=64"));
  EXPECT_THAT(tree, HasSubstr("unroll for y < 3"));
  EXPECT_THAT(tree, HasSubstr("I (3x4x1x1x16) <- M"));
}

// Peeled rows, columns and channels are eight copies, which are too much code.
TEST_F(TransformTiles, TooMuchCodeStaysApart) {
  const std::string tree = tree_of(winograd("h=14,w=14,ci=64,co=72"));
  EXPECT_THAT(tree, HasSubstr("I (4x4x1x16x72) <- M"));
  EXPECT_THAT(tree_of(winograd("h=14,w=14,ci=64,co=72,m=2")), HasSubstr("I (2x2x1x1x16) <- M"));
}

TEST_F(TransformTiles, WithoutVectorsNothingIsDone) {
  const Workbench bench(winograd("h=16,w=16,ci=64,co=64"));
  TraceBuilder builder(bench.initial());
  Tiling tiling{builder, target_, {.vectors = false}};
  const StageIndex transform = tiling.tree().find_stage(stage_of("I"));
  const auto reader = tile_reader(tiling.tree(), transform);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(tile_with_reader(tiling, transform, *reader));
  EXPECT_TRUE(builder.trace().steps.empty());
}

}  // namespace
}  // namespace tilewright::heuristic
