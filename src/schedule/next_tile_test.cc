#include "schedule/next_tile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

// `j.0 of C: i.0, k`: the selector, its stage, the inner variables.
std::string next_tile_text(const LoopTree& tree, const Access& access) {
  const std::optional<NextTile> tile = next_tile(tree, tree.prefetches.at(0), access);
  if (!tile) return "none";
  std::string inner;
  for (const VarIndex var : tile->inner) {
    inner += (inner.empty() ? "" : ", ") + tree.var(var).name.text();
  }
  return fmt::format("{} of {}: {}, {} iterations", tree.var(tile->selector).name.text(),
                     tree.stage(tile->stage).name.text(), inner, tile->iterations(tree));
}

struct TileCase {
  std::string workload, steps, reader, source, tile;
};

TEST(NextTile, IsSelectedByTheInnermostLoopOutside) {
  const std::string matmul = "matmul:m=64,n=96,k=32";
  const std::string tiled = "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\n";
  const std::string attached =
      "cache_write C\n" + tiled.substr(0, tiled.find("reorder")) +
      "reorder C [j.0, i.0, i.1, j.1]\ncompute_at C.write C i.0\nreorder C.write [k, i, j]\n";
  const std::vector<TileCase> cases = {
      {matmul, tiled + "prefetch_next C k B", "C", "B", "j.0 of C: i.0, k, 256 iterations"},
      // Rows of A change with each tile of i.
      {matmul, tiled + "prefetch_next C k A", "C", "A", "i.0 of C: k, 32 iterations"},
      // Nothing outside selects a part of B.
      {matmul, "reorder C [i, k, j]\nprefetch_next C k B", "C", "B", "none"},
      // The reduce loops around the request are part of the tile; others select it.
      {"conv2d:n=1,h=8,w=8,ci=16,co=32,kernel=3,stride=1,pad=1,dilation=1,groups=1",
       "prefetch_next Y rc W", "Y", "W", "c of Y: ry, rx, rc, 144 iterations"},
      {matmul,
       tiled.substr(0, tiled.find("reorder")) +
           "split C k [8]\nreorder C [j.0, k.0, i.0, k.1, i.1, j.1]\nprefetch_next C k.1 B",
       "C", "B", "k.0 of C: i.0, k.1, 64 iterations"},
      // Through an attached stage.
      {matmul, attached + "prefetch_next C.write k B", "C.write", "B",
       "j.0 of C: i.0, k, 256 iterations"},
      // A fused loop: its inner member reuses the tile, or selects it.
      {matmul,
       "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\nfuse C [j.0, i.0]\n"
       "prefetch_next C k B",
       "C", "B", "j.0 of C: i.0, k, 256 iterations"},
      {matmul,
       "split C i [8]\nsplit C j [32]\nreorder C [i.0, j.0, k, i.1, j.1]\nfuse C [i.0, j.0]\n"
       "prefetch_next C k B",
       "C", "B", "j.0 of C: k, 32 iterations"},
      // A data-dependent index.
      {"gather:shape=8x16,indices=4", "prefetch_next Y j X", "Y", "X", "none"},
  };
  for (const TileCase& c : cases) {
    SCOPED_TRACE(c.workload + "\n" + c.steps);
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree(c.steps);
    EXPECT_EQ(next_tile_text(tree, access_of(tree, c.reader, c.source)), c.tile);
  }
}

}  // namespace
}  // namespace tilewright::schedule::testing
