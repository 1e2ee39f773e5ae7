#include "schedule/loop_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"
#include "schedule/apply.h"
#include "schedule/testing.h"
#include "schedule/trace.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

BufferIndex buffer_of(const LoopTree& tree, std::string_view stage) {
  return tree.stage(tree.find_stage(stage_of(stage))).first_buffer;
}

// Every element of the shape has a distinct location inside the array.
void expect_bijection(const layout::Layout& layout, std::span<const int64_t> shape) {
  EXPECT_TRUE(layout.holds(shape)) << layout.to_string();
  std::set<int64_t> seen;
  std::vector<int64_t> index(shape.size(), 0);
  for (bool more = true; more;) {
    const int64_t offset = layout.offset(index);
    ASSERT_GE(offset, 0) << layout.to_string();
    ASSERT_LT(offset, layout.elements()) << layout.to_string();
    ASSERT_TRUE(seen.insert(offset).second) << layout.to_string() << " at " << offset;
    more = false;
    for (size_t d = shape.size(); d-- > 0 && !more; index[d] = more ? index[d] : 0) {
      more = ++index[d] < shape[d];
    }
  }
}

struct LayoutCase {
  std::string workload, steps, stage, layout;
};

TEST(LayoutOf, PackedBuffers) {
  const std::string matmul = "matmul:m=12,n=70,k=6,constant=B";
  const std::vector<LayoutCase> cases = {
      {matmul, "", "B", "[d0:6, d1:70]"},
      {matmul, "cache_write C", "C.write", "[d0:12, d1:70]"},
      // In the order of the loops: j is outside k.
      {matmul, "pack B C", "B", "[d1:70, d0:6]"},
      {matmul, "reorder C [k, j]\npack B C", "B", "[d0:6, d1:70]"},
      // Blocks of 32 columns; the last one is padded.
      {matmul, "split C j [32]\nreorder C [j.0, k, i, j.1]\npack B C", "B",
       "[d1/32:3, d0:6, d1%32:32]"},
      {matmul, "split C j [2, 16]\nsplit C k [3]\nreorder C [j.0, k.0, j.1, i, k.1, j.2]\npack B C",
       "B", "[d1/32:3, d0/3:2, d1/16%2:2, d0%3:3, d1%16:16]"},
      // A factor above the extent, and one-trip parts, are no digits.
      {matmul, "split C k [8]\nsplit C j [1, 70]\npack B C", "B", "[d1:70, d0:6]"},
      // A copy, whole and in a tile: only loops inside the tile are digits.
      {matmul, "cache_read A [C]\nsplit C i [4]\nreorder C [i.0, j, k, i.1]\npack A.read C",
       "A.read", "[d0/4:3, d1:6, d0%4:4]"},
      {matmul,
       "cache_read A [C]\nsplit C i [4]\nreorder C [i.0, j, k, i.1]\npack A.read C\n"
       "compute_at A.read C i.0",
       "A.read", "[d1:6, d0:4]"},
      // With a remainder the tile is as large as the largest.
      {"matmul:m=10,n=70,k=6",
       "cache_read A [C]\nsplit C i [4]\nreorder C [i.0, j, k, i.1]\npack A.read C\n"
       "compute_at A.read C i.0",
       "A.read", "[d1:6, d0:4]"},
      // The reader is placed itself: loops around it come first.
      {matmul,
       "cache_write C\nsplit C j [35]\nreorder C [j.0, i]\ncompute_at C.write C j.0\n"
       "reorder C.write [k, i, j]\npack B C.write",
       "B", "[d1/35:2, d0:6, d1%35:35]"},
      // Members of a fusion in their order, though both are walked by one loop.
      {matmul, "split C j [35]\nreorder C [j.0, i, j.1, k]\npack B C", "B",
       "[d1/35:2, d1%35:35, d0:6]"},
      {"batch_matmul:b=3,m=2,n=5,k=4,constant=B", "reorder C [j, b]\nfuse C [j, i]\npack B C", "B",
       "[d2:5, d0:3, d1:4]"},
      {"batch_matmul:b=3,m=2,n=5,k=4,constant=B",
       "reorder C [i, j, b]\nfuse C [j, b]\nsplit C (j,b) [4]\npack B C", "B",
       "[d2:5, d0:3, d1:4]"},
      {"batch_matmul:b=3,m=2,n=5,k=4,constant=B",
       "reorder C [j, b, i]\nfuse C [j, b]\nfuse C [(j,b), i]\npack B C", "B",
       "[d2:5, d0:3, d1:4]"},
  };
  for (const LayoutCase& c : cases) {
    SCOPED_TRACE(fmt::format("{}\n{}", c.workload, c.steps));
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree(c.steps);
    const BufferIndex buffer = buffer_of(tree, c.stage);
    const layout::Layout layout = layout_of(tree, buffer);
    EXPECT_EQ(layout.to_string(), c.layout);
    const auto& extent = tree.buffer(buffer).extent;
    expect_bijection(layout, std::span(extent.begin(), extent.size()));
  }
}

TEST(LayoutOf, PartsOfLargerArrays) {
  Workload workload = parse_workload("matmul:m=10,n=70,k=6").value();
  ASSERT_TRUE(set_part(workload, {.tensor = "A", .extents = {12, 9}, .alignment = 64}));
  ASSERT_TRUE(set_part(workload, {.tensor = "C", .extents = {10, 100}, .alignment = 64}));
  const LoopTree initial = initial_tree(workload).value();
  LoopTree tree;
  const Trace trace = trace_from_text("cache_write C\ncache_read A [C.write]\n").value();
  ASSERT_FALSE(apply(initial, trace, &tree));
  EXPECT_EQ(layout_of(tree, buffer_of(tree, "A")).to_string(), "[d0:12, d1:9]");
  EXPECT_EQ(layout_of(tree, buffer_of(tree, "C")).to_string(), "[d0:10, d1:100]");
  EXPECT_EQ(layout_of(tree, buffer_of(tree, "A.read")).to_string(), "[d0:10, d1:6]");
  EXPECT_EQ(layout_of(tree, buffer_of(tree, "C.write")).to_string(), "[d0:10, d1:70]");
}

// T is read at y + r by a stage that both y and r move in: T's own reads then have two terms of one
// weight, which is one digit; and where the weights do not divide, there is no layout.
TEST(LayoutOf, StencilsAroundTheReader) {
  const auto stencil = [](int64_t stride, int64_t dilation) {
    te::DagBuilder builder;
    const te::TensorId x = builder.placeholder("X", {32, 3}, ir::Scalar::F32);
    const te::Axis a = builder.axis("a", 32);
    const te::Axis c = builder.axis("c", 3);
    const te::TensorId t = builder.compute(
        "T", {a, c}, builder.read(x, {a.var, c.var}) * ir::imm(2.0, {ir::Scalar::F32, 1}));
    const te::Axis y = builder.axis("y", 8);
    const te::Axis z = builder.axis("z", 3);
    const te::Axis r = builder.axis("r", 3);
    builder.reduce("Y", {y, z}, {r}, ir::BinaryOp::Add,
                   builder.read(t, {y.var * stride + r.var * dilation, z.var}), ir::Scalar::F32);
    return Workbench(std::move(builder).build());
  };
  const std::string steps =
      "cache_read X [T]\nreorder Y [y, r, z]\ncompute_at T Y r\npack X.read T\n";
  const Workbench same = stencil(1, 1);
  const LoopTree tree = same.tree(steps);
  const BufferIndex buffer = buffer_of(tree, "X.read");
  EXPECT_EQ(layout_of(tree, buffer).to_string(), "[d0:32, d1:3]");
  const auto& extent = tree.buffer(buffer).extent;
  expect_bijection(layout_of(tree, buffer), std::span(extent.begin(), extent.size()));
  EXPECT_EQ(stencil(2, 1).refusal(steps).code, IllegalCode::None);
  const Workbench odd = stencil(2, 3);
  EXPECT_EQ(odd.refusal(steps).code, IllegalCode::PackTiles);
  EXPECT_NE(odd.explanation(steps).find("in steps of 3 and of 2"), std::string::npos);
}

// Random tilings of the reader: always a bijection, and the reader's innermost loop over the buffer
// that is a digit walks it with the smallest stride there is.
TEST(LayoutOf, IsABijectionForRandomTiles) {
  Rng rng(4);
  const Workbench bench("matmul:m=5,n=23,k=11,constant=B");
  for (int round = 0; round < 200; ++round) {
    const std::string steps = fmt::format(
        "split C j [{}, {}]\nsplit C k [{}]\nreorder C [j.0, k.0, i, j.1, k.1, j.2]\n{}pack B C\n",
        rng.between(1, 5), rng.between(1, 9), rng.between(1, 12),
        rng.chance(0.5) ? "cache_read A [C]\ncompute_at A.read C j.1\npack A.read C\n" : "");
    SCOPED_TRACE(steps);
    const LoopTree tree = bench.tree(steps);
    for (const Buffer& buffer : tree.buffers) {
      const auto index = static_cast<BufferIndex>(&buffer - tree.buffers.data());
      ASSERT_NO_FATAL_FAILURE(expect_bijection(
          layout_of(tree, index), std::span(buffer.extent.begin(), buffer.extent.size())));
    }
  }
}

TEST(LoopTree, FindsByName) {
  const Workbench bench("matmul:m=4,n=4,k=4");
  const LoopTree tree = bench.tree("split C i [2]");
  const StageIndex c = tree.find_stage(stage_of("C"));
  EXPECT_NE(c, kNone);
  EXPECT_EQ(tree.find_stage(stage_of("C.write")), kNone);
  EXPECT_NE(tree.find_loop(c, Name("i.1")), kNone);
  EXPECT_EQ(tree.find_loop(c, Name("i")), kNone);  // no loop any more
}

// A body counts the expansions of its functions, and all stages inlined into it.
TEST(LoopTree, EstimatesWorkOfBodies) {
  const std::string tile =
      "split Y i [32]\nreorder Y [i.0, i.1, j]\nannotate Y i.1 unroll\n"
      "annotate Y j vectorize\n";
  EXPECT_EQ(Workbench("binary:op=add,a=64x1024,b=64x1024").refusal(tile).code, IllegalCode::None);
  EXPECT_EQ(Workbench("binary:op=pow,a=64x1024,b=64x1024").refusal(tile).code,
            IllegalCode::CodeTooLarge);
  std::string inlined;
  for (int k = 1; k <= 11; ++k) inlined += fmt::format("compute_inline T{}\n", k);
  EXPECT_EQ(Workbench("cumulative_sum:shape=4096").refusal(inlined).code,
            IllegalCode::CodeTooLarge);
}

TEST(LoopTree, EstimatesInstructions) {
  const Workbench bench("matmul:m=64,n=64,k=64");
  const int64_t plain = estimated_instructions(bench.tree(""), 64);
  EXPECT_EQ(estimated_instructions(bench.tree("annotate C k unroll"), 64), 64 * plain);
  EXPECT_EQ(estimated_instructions(bench.tree("reorder C [k, j]\nannotate C j vectorize"), 64),
            4 * plain);
  EXPECT_EQ(estimated_instructions(bench.tree("split C i [10]"), 64), 2 * plain);
  const std::string tile = "cache_write C\nsplit C i [4]\ncompute_at C.write C i.1\n";
  EXPECT_GT(estimated_instructions(bench.tree(tile + "annotate C i.1 unroll"), 64),
            estimated_instructions(bench.tree(tile), 64));

  const std::string all = "annotate C i unroll\nannotate C j unroll\nannotate C k unroll\n";
  const Illegal refused = bench.refusal(all);
  EXPECT_EQ(refused.code, IllegalCode::CodeTooLarge);
  EXPECT_EQ(refused.a, 64 * 64 * 64 * plain);
  EXPECT_NE(bench.explanation(all).find("1048576 instructions; 16384 are allowed"),
            std::string::npos)
      << bench.explanation(all);
}

}  // namespace
}  // namespace tilewright::schedule::testing
