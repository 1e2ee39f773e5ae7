#include "heuristic/register_tile.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

struct TileCase {
  const char* workload;
  const char* stage;
  const char* target;
  TileStyle style;
  RegisterTile tile;
};

constexpr TileStyle kFull{};
constexpr TileStyle kSmall{.small = true};
constexpr TileStyle kScalar{.vectors = false, .small = true};

constexpr TileCase kCases[] = {
    {"matmul:m=512,n=512,k=64", "C", "x86-64-v4;threads=1", kFull, {32, 8}},
    {"matmul:m=98,n=512,k=64", "C", "x86-64-v4;threads=1", kFull, {32, 14}},
    {"matmul:m=512,n=512,k=64", "C", "x86-64-v3;threads=1", kFull, {16, 4}},
    {"matmul:m=5,n=512,k=64", "C", "x86-64-v4;threads=1", kFull, {32, 5}},
    {"matmul:m=512,n=512,k=64", "C", "x86-64-v4;threads=1", kSmall, {16, 4}},
    {"matmul:m=512,n=512,k=64", "C", "x86-64-v4;threads=1", kScalar, {4, 3}},
    {"softmax:m=64,n=640", "S", "x86-64-v4;threads=1", kFull, {64, 0}},
    {"conv2d:n=1,h=14,w=14,ci=64,co=64,kernel=3,pad=1,groups=4",  // groups of 16 channels
     "Y",
     "x86-64-v4;threads=1",
     kFull,
     {16, 14}},
    // Too few columns for lanes: lanes hold partial sums of a block of results.
    {"matmul:m=512,n=2,k=64,constant=B", "C", "x86-64-v4;threads=1", kFull, {16, 2, 8}},
    {"matmul:m=512,n=3,k=64,constant=B", "C", "x86-64-v3;threads=1", kFull, {8, 3, 4}},
    {"conv2d:n=1,h=30,w=30,ci=64,co=1,kernel=1", "Y", "x86-64-v4;threads=1", kFull, {16, 3}},
    {"transpose:shape=640x640,perm=1x0", "Y", "x86-64-v4;threads=1", kFull, {kAcross, 0}},
};

TEST(RegisterTile, FillsTheRegisters) {
  for (const TileCase& c : kCases) {
    const Workbench bench(c.workload);
    const schedule::LoopTree tree = bench.tree("");
    const Target target = parse_target(c.target).value();
    const schedule::StageIndex stage = tree.find_stage(stage_of(c.stage));
    const AxisRoles roles = axis_roles(tree, stage, target, true);
    const RegisterTile tile = choose_tile(tree, stage, roles, target, c.style);
    EXPECT_EQ(tile.vector, c.tile.vector) << c.workload << ' ' << c.target;
    EXPECT_EQ(tile.rows, c.tile.rows) << c.workload << ' ' << c.target;
    EXPECT_EQ(tile.columns, c.tile.columns) << c.workload << ' ' << c.target;
  }
}

}  // namespace
}  // namespace tilewright::heuristic
