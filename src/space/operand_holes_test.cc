#include "space/operand_holes.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

// A product with loops i.0 (threads), j.0, k, i.1, j.1.
TiledStage product(const LayoutBench& bench) {
  const StageName stage{Name("C")};
  TiledStage tiled{.inner = stage,
                   .owner = stage,
                   .op = bench.op("C"),
                   .owner_lane = Name("j.1"),
                   .inner_lane = Name("j.1"),
                   .lane_axis = 1};
  tiled.outer = {{Name("i.0")}, {Name("j.0")}};
  tiled.inner_levels = {{Name("k")}, {Name("i.1"), Name("j.1")}};
  tiled.inner_reduces = {true, false};
  return tiled;
}

TEST(OperandHoles, PackConstantsAndPrefetchThem) {
  LayoutBench bench("matmul:m=64,n=64,k=64,constant=B");
  add_operand_holes(bench.layout, product(bench), Name("i.0"));
  EXPECT_EQ(bench.holes(), "pack C 2, prefetch C 5");
  EXPECT_EQ(bench.choice(0, 0), "");
  EXPECT_EQ(bench.choice(0, 1), "pack B C");
  EXPECT_EQ(bench.choice(1, 3), "prefetch C k B 8");
}

// Read along the lanes and used by each row: copied at threads, at j.0 or at root.
TEST(OperandHoles, CopyReusedOperands) {
  LayoutBench bench("matmul:m=64,n=64,k=64");
  add_operand_holes(bench.layout, product(bench), Name("i.0"));
  EXPECT_EQ(bench.holes(), "pack C 7");
  EXPECT_EQ(bench.choice(0, 1),
            "cache_read B [C]; compute_at B.read C i.0; pack B.read C; split B.read d1 [32]; "
            "annotate B.read d1.1 vectorize");
  EXPECT_EQ(bench.choice(0, 3),
            "cache_read B [C]; pack B.read C; split B.read d1 [32]; "
            "annotate B.read d1.1 vectorize; annotate B.read d0 parallel");
  EXPECT_EQ(bench.choice(0, 5),
            "cache_read B [C]; compute_at B.read C j.0; pack B.read C; split B.read d1 [32]; "
            "reorder B.read [d1.0, d0, d1.1]; annotate B.read d1.1 vectorize");
}

TEST(OperandHoles, KeepSmallOperandsInRegisters) {
  LayoutBench bench("matmul:m=64,n=64,k=16");
  add_operand_holes(bench.layout, product(bench), Name("i.0"));
  EXPECT_EQ(bench.holes(), "register_read C 3");
  EXPECT_EQ(bench.choice(0, 1),
            "cache_read B [C]; compute_at B.read C i.0; annotate B.read d0 unroll; "
            "annotate B.read d1 vectorize");
}

TEST(OperandHoles, ExtensionsCanBeTurnedOff) {
  LayoutBench bench("matmul:m=64,n=64,k=64", {"pack", "register_read", "prefetch"});
  add_operand_holes(bench.layout, product(bench), Name("i.0"));
  EXPECT_EQ(bench.holes(), "");
}

}  // namespace
}  // namespace tilewright::space
