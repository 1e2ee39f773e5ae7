// The part of StageTiler about chains: all members by blocks of rows of the root.
//
//   for (h,i.0) in parallel:  C[i.1, j]  M[i.1]  E[i.1, j]  S[i.1]  O[i.1, e]  Y[i.1, e]
#include <algorithm>

#include "base/rounding.h"
#include "heuristic/stage_tiles.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kBlockBytes = int64_t{1}
                                << 17;  // of the widest member: a part of the second cache
constexpr int64_t kMostRows = 64;
constexpr int64_t kFewestRows = 8;
constexpr int64_t kTasksPerThread = 4;
constexpr int64_t kFewestUses = 8;  // of a copied operand, by rows

}  // namespace

// Rows of one block: what stays in cache, and as many blocks as threads want.
int64_t StageTiler::rows_of(const Chain& chain) const {
  if (chain.rows < 0) return 1;
  const Stage& root = tree().stage(chain.root);
  int64_t others = 1;
  for (const int axis : chain.shared) {
    if (axis != chain.rows) others *= tree().var(root.dims[static_cast<size_t>(axis)]).extent;
  }
  const int64_t length = tree().var(root.dims[static_cast<size_t>(chain.rows)]).extent;
  int64_t block = std::clamp<int64_t>(kBlockBytes / chain.row_bytes, 1, kMostRows);
  while (block > kFewestRows &&
         others * ceil_div(length, block) < kTasksPerThread * target_.threads()) {
    block /= 2;
  }
  return ceil_div(length, ceil_div(length, std::min(block, length)));
}

// The loops of the root: shared ones outside, one parallel loop; gives that.
std::optional<Name> StageTiler::lay_out_root(const Chain& chain) {
  const Stage& root = tree().stage(chain.root);
  const StageName name = root.name;
  const AxisRoles roles = axis_roles(tree(), chain.root, target_, false);
  const int64_t block = rows_of(chain);
  std::vector<Step> steps;
  LoopList outer, inner;
  Name lanes;
  for (int axis = 0; axis < static_cast<int>(root.dims.size()); ++axis) {
    const LoopVar& var = tree().var(root.dims[static_cast<size_t>(axis)]);
    if (axis == chain.rows && block < var.extent) {
      steps.emplace_back(Split{name, var.name, {block}, Tail::Peel});
      outer.push_back(var.name.child(0));
      inner.push_back(var.name.child(1));
    } else if (axis != chain.rows && std::ranges::count(chain.shared, axis) > 0) {
      outer.push_back(var.name);
    } else if (axis == roles.vector && style_.vectors) {
      const int64_t tile = vector_tile(var.extent, target_.lanes(roles.element_bytes), 4);
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
  if (!builder_.add(steps)) return std::nullopt;
  if (!lanes.empty()) builder_.add({Annotate{name, lanes, Annotation::Vectorize}});
  const bool large =
      std::ranges::any_of(chain.products, [&](StageIndex each) { return is_worth_threads(each); });
  if (large && target_.threads() > 1) builder_.add({Annotate{name, loop, Annotation::Parallel}});
  return loop;
}

bool StageTiler::tile_chain(const Chain& chain) {
  const std::optional<Name> loop = lay_out_root(chain);
  if (!loop) return false;
  for (const StageIndex member : chain.members) {
    if (!builder_.add({ComputeAt{name_of(member), name_of(chain.root), *loop}})) {
      tile_root(member);
    } else if (std::ranges::count(chain.products, member) > 0) {
      tile_product(chain, member);
    } else {
      tile_inner(member);
    }
  }
  return true;
}

// A product of a block of rows. Operands that lanes would walk with gaps are copied first, whole,
// where there are enough rows.
void StageTiler::tile_product(const Chain& chain, StageIndex index) {
  const Stage& root = tree().stage(chain.root);
  const bool copies = style_.packs && chain.rows >= 0 &&
                      tree().var(root.dims[static_cast<size_t>(chain.rows)]).extent >= kFewestUses;
  const AxisRoles roles = axis_roles(tree(), index, target_, copies);
  if (!lay_out(index, roles, choose_tiles(index, roles))) return;
  annotate_inner(index, roles);
  if (!copies || !roles.has_vector() || roles.rows == kNoAxis || roles.vector_reduces) return;
  const std::vector<Access> reads(tree().reads_of(tree().stage(index)).begin(),
                                  tree().reads_of(tree().stage(index)).end());
  for (const Access& access : reads) {
    const AccessStride walk = access_stride(tree(), access, static_cast<size_t>(roles.vector));
    if (!walk.depends || walk.is_contiguous()) continue;
    if (access_stride(tree(), access, static_cast<size_t>(roles.rows)).depends) continue;
    copy_whole(access, index, roles);
  }
}

// before the nest: squares of the lanes' dimension and the last one are transposed in registers.
void StageTiler::copy_whole(const Access& access, StageIndex reader, const AxisRoles& roles) {
  const Buffer& buffer = tree().buffer(access.buffer);
  const StageName source = name_of(buffer.stage);
  const StageName copy{.op = source.op, .role = StageRole::Read};
  const int64_t lanes = target_.lanes(ir::bytes_of(buffer.element));
  int walked = kNoAxis;  // the dimension that lanes walk
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree().dims[access.first_dim + d];
    if (dim.affine && dim.index.terms.size() == 1 &&
        static_cast<int>(dim.index.terms[0].var) == roles.vector) {
      walked = static_cast<int>(d);
    }
  }
  if (!builder_.add({CacheRead{source, {name_of(reader)}}, Pack{copy, name_of(reader)}})) return;
  const Stage& stage = tree().stage(tree().find_stage(copy));
  std::vector<Step> steps;
  LoopList outer, inner, tile;
  for (size_t d = 0; d < stage.loops.size(); ++d) {
    const LoopVar& var = tree().var(stage.loops[d]);
    const bool last = d + 1 == stage.loops.size();
    const int64_t size = last ? 2 * lanes : static_cast<int>(d) == walked ? lanes : 0;
    if (size == 0 || size >= var.extent) {
      (size == 0 ? outer : tile).push_back(var.name);
      continue;
    }
    steps.emplace_back(Split{copy, var.name, {size}, Tail::Peel});
    (last ? inner : outer).push_back(var.name.child(0));
    tile.push_back(var.name.child(1));
  }
  LoopList all = outer;
  for (const Name loop : inner) all.push_back(loop);
  for (const Name loop : tile) all.push_back(loop);
  if (all.size() > 1) steps.emplace_back(Reorder{copy, all});
  if (!builder_.add(steps)) return;
  builder_.add({Annotate{copy, tile.back(), Annotation::Vectorize}});
  if (outer.empty() || target_.threads() == 1) return;
  Name loop = outer[0];
  if (outer.size() > 1 && builder_.add({Fuse{copy, outer}})) {
    loop = Name::fuse(std::vector<Name>(outer.begin(), outer.end()));
  }
  builder_.add({Annotate{copy, loop, Annotation::Parallel}});
}

}  // namespace tilewright::heuristic
