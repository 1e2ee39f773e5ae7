#include "heuristic/chain_tiler.h"

#include <algorithm>

#include "base/rounding.h"
#include "heuristic/loop_order.h"
#include "heuristic/operand_copies.h"
#include "heuristic/thread_loops.h"
#include "heuristic/tile_sizes.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kBlockBytes = int64_t{1}
                                << 17;  // bytes of the widest member: a part of the L2 cache
constexpr int64_t kMaxRows = 64;
constexpr int64_t kFewestRows = 8;
constexpr int64_t kFewestUses = 8;  // uses of a copied operand, by rows

// Rows per block: as many as stay in cache, with enough blocks for the threads.
int64_t rows_of(const Tiling& tiling, const Chain& chain) {
  const LoopTree& tree = tiling.tree();
  if (chain.rows < 0) return 1;
  const Stage& root = tree.stage(chain.root);
  int64_t others = 1;
  for (const int axis : chain.shared) {
    if (axis != chain.rows) others *= tree.var(root.dims[static_cast<size_t>(axis)]).extent;
  }
  const int64_t length = tree.var(root.dims[static_cast<size_t>(chain.rows)]).extent;
  int64_t block = std::clamp<int64_t>(kBlockBytes / chain.row_bytes, 1, kMaxRows);
  while (block > kFewestRows &&
         others * ceil_div(length, block) < kTasksPerThread * tiling.target.threads()) {
    block /= 2;
  }
  return ceil_div(length, ceil_div(length, std::min(block, length)));
}

// The loops of the root: shared ones outside, as one parallel loop, which is returned.
std::optional<Name> lay_out_root(Tiling& tiling, const Chain& chain) {
  const LoopTree& tree = tiling.tree();
  const Stage& root = tree.stage(chain.root);
  const StageName name = root.name;
  const AxisRoles roles = axis_roles(tree, chain.root, tiling.target, false);
  const int64_t block = rows_of(tiling, chain);
  std::vector<Step> steps;
  LoopList outer, inner;
  Name lanes;
  for (int axis = 0; axis < static_cast<int>(root.dims.size()); ++axis) {
    const LoopVar& var = tree.var(root.dims[static_cast<size_t>(axis)]);
    if (axis == chain.rows && block < var.extent) {
      steps.emplace_back(Split{name, var.name, {block}, Tail::Peel});
      outer.push_back(var.name.child(0));
      inner.push_back(var.name.child(1));
    } else if (axis != chain.rows && std::ranges::count(chain.shared, axis) > 0) {
      outer.push_back(var.name);
    } else if (axis == roles.vector && tiling.style.vectors) {
      const int64_t tile = vector_tile(var.extent, tiling.target.lanes(roles.element_bytes), 4);
      lanes = var.name;
      if (tile < var.extent) {
        steps.emplace_back(Split{name, var.name, {tile}, Tail::Peel});
        inner.push_back(var.name.child(0));
        lanes = var.name.child(1);
      }
    } else {
      inner.push_back(var.name);
    }
  }
  if (outer.empty()) return std::nullopt;
  LoopList all = outer;
  for (const Name loop : inner) all.push_back(loop);
  if (!lanes.empty()) all.push_back(lanes);
  if (all.size() > 1) steps.emplace_back(Reorder{name, all});
  if (outer.size() > 1) steps.emplace_back(Fuse{name, outer});
  const Name loop =
      outer.size() > 1 ? Name::fuse(std::vector<Name>(outer.begin(), outer.end())) : outer[0];
  if (!tiling.builder.add(steps)) return std::nullopt;
  if (!lanes.empty()) tiling.builder.add({Annotate{name, lanes, Annotation::Vectorize}});
  const bool large = std::ranges::any_of(
      chain.products, [&](StageIndex each) { return is_worth_threads(tree, each, tiling.target); });
  if (large && tiling.target.threads() > 1)
    tiling.builder.add({Annotate{name, loop, Annotation::Parallel}});
  return loop;
}

// A product of a block of rows. Operands that lanes would access with gaps are first copied
// completely, if there are enough rows.
void tile_product(Tiling& tiling, const Chain& chain, StageIndex index) {
  const Stage& root = tiling.tree().stage(chain.root);
  const bool copies =
      tiling.style.packs && chain.rows >= 0 &&
      tiling.tree().var(root.dims[static_cast<size_t>(chain.rows)]).extent >= kFewestUses;
  const AxisRoles roles = axis_roles(tiling.tree(), index, tiling.target, copies);
  const RegisterTile tile = choose_tile(tiling.tree(), index, roles, tiling.target, tiling.style);
  if (!tiling.builder.add(order_loops(tiling.tree(), index, roles, tile).steps)) return;
  annotate_tile(tiling, index, roles);
  if (copies) copy_gapped_operands(tiling, index, roles);
}

}  // namespace

bool tile_chain(Tiling& tiling, StageTiler& tiler, const Chain& chain) {
  const std::optional<Name> loop = lay_out_root(tiling, chain);
  if (!loop) return false;
  for (const StageIndex member : chain.members) {
    const ComputeAt place{tiling.name_of(member), tiling.name_of(chain.root), *loop};
    if (!tiling.builder.add({place})) {
      tiler.tile_root(member);
    } else if (std::ranges::count(chain.products, member) > 0) {
      tile_product(tiling, chain, member);
    } else {
      tiler.tile_inner(member);
    }
  }
  return true;
}

}  // namespace tilewright::heuristic
