#include "heuristic/operand_copies.h"

#include <array>

#include "heuristic/thread_loops.h"
#include "heuristic/tile_sizes.h"
#include "schedule/region.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kMaxCopied = 1 << 19;  // bytes per tile: a part of the L2 cache
constexpr int64_t kMinCopied = 1024;     // bytes

bool is_gapped(const LoopTree& tree, const Access& access, const AxisRoles& roles) {
  return !access_stride(tree, access, static_cast<size_t>(roles.vector)).is_contiguous();
}

// Operands of a register tile in another order: they change with the lanes, and rows reuse them.
// With lanes of partial results, only constants, where lanes would access them with gaps.
std::vector<Access> reused_reads(const LoopTree& tree, StageIndex reader, const AxisRoles& roles) {
  std::vector<Access> reads;
  if (!roles.has_vector() || roles.rows == kNoAxis) return reads;
  for (const Access& access : tree.reads_of(tree.stage(reader))) {
    const bool moves = access_stride(tree, access, static_cast<size_t>(roles.vector)).depends;
    const bool still = !access_stride(tree, access, static_cast<size_t>(roles.rows)).depends;
    const bool gapped = tree.buffer(access.buffer).is_constant && is_gapped(tree, access, roles);
    if (moves && (roles.vector_reduces ? gapped : still)) reads.push_back(access);
  }
  return reads;
}

StageName copy_of(StageName source) { return {.op = source.op, .role = StageRole::Read}; }

// Copies the part that one outermost iteration reads, in the order of the reads, if enough inner
// iterations reuse it.
void copy_tile(Tiling& tiling, const Access& access, StageIndex reader, StageIndex owner,
               const std::vector<Name>& outer, const AxisRoles& roles) {
  const LoopTree& tree = tiling.tree();
  const Buffer& buffer = tree.buffer(access.buffer);
  const VarIndex at = tree.find_loop(owner, outer[0]);
  if (at == kNone) return;
  std::array<RegionDim, kMaxRank> dims;
  region_of(tree, access, owner, at, dims.data());
  int64_t bytes = ir::bytes_of(buffer.element);
  for (size_t d = 0; d < access.rank; ++d) bytes *= dims[d].extent;
  double uses = 1;
  for (size_t k = 1; k < outer.size(); ++k) {
    uses *= static_cast<double>(tiling.trips(owner, outer[k]));
  }
  const int fewest_uses = is_gapped(tree, access, roles) ? 2 : 4;
  if (bytes > kMaxCopied || bytes < kMinCopied || uses < fewest_uses) return;
  const int lanes = tiling.target.lanes(ir::bytes_of(buffer.element));
  const StageName source = tiling.name_of(buffer.stage);
  const StageName copy = copy_of(source);
  const StageName name = tiling.name_of(reader);
  if (!tiling.builder.add({CacheRead{source, {name}},
                           ComputeAt{copy, tiling.name_of(owner), outer[0]}, Pack{copy, name}})) {
    return;
  }
  const Stage& stage = tiling.tree().stage(tiling.tree().find_stage(copy));
  if (stage.loops.empty()) return;
  const LoopVar& last = tiling.tree().var(stage.loops.back());
  const int64_t tile = vector_tile(last.extent, lanes, 2);
  const Name loop = last.name;
  if (tile < last.extent && tiling.builder.add({Split{copy, loop, {tile}, Tail::Peel}})) {
    tiling.builder.add({Annotate{copy, loop.child(1), Annotation::Vectorize}});
  } else {
    tiling.builder.add({Annotate{copy, loop, Annotation::Vectorize}});
  }
}

// The dimension of an access that is the lane axis.
int lane_dimension(const LoopTree& tree, const Access& access, const AxisRoles& roles) {
  int found = kNoAxis;
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    if (dim.affine && dim.index.terms.size() == 1 &&
        static_cast<int>(dim.index.terms[0].var) == roles.vector) {
      found = static_cast<int>(d);
    }
  }
  return found;
}

void copy_whole(Tiling& tiling, const Access& access, StageIndex reader, const AxisRoles& roles) {
  const Buffer& buffer = tiling.tree().buffer(access.buffer);
  const StageName source = tiling.name_of(buffer.stage);
  const StageName copy = copy_of(source);
  const StageName name = tiling.name_of(reader);
  const int64_t lanes = tiling.target.lanes(ir::bytes_of(buffer.element));
  const int walked = lane_dimension(tiling.tree(), access, roles);
  if (!tiling.builder.add({CacheRead{source, {name}}, Pack{copy, name}})) return;
  const StageIndex made = tiling.tree().find_stage(copy);
  const Stage& stage = tiling.tree().stage(made);
  std::vector<Step> steps;
  LoopList outer, inner, tile;
  for (size_t d = 0; d < stage.loops.size(); ++d) {
    const LoopVar& var = tiling.tree().var(stage.loops[d]);
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
  if (!tiling.builder.add(steps)) return;
  tiling.builder.add({Annotate{copy, tile.back(), Annotation::Vectorize}});
  if (outer.empty() || tiling.target.threads() == 1) return;
  const Name loop = fuse_loops(tiling, made, outer).value_or(outer[0]);
  tiling.builder.add({Annotate{copy, loop, Annotation::Parallel}});
}

// True if memory is likely to deliver the constant more slowly than the reader uses it: it is too
// large for the caches near a core, and its elements have few uses.
bool is_streamed(const LoopTree& tree, StageIndex reader, const Access& access) {
  constexpr int64_t kMinBytes = 1 << 18;
  constexpr double kMaxUses = 1024;
  const Buffer& buffer = tree.buffer(access.buffer);
  int64_t bytes = ir::bytes_of(buffer.element);
  for (const int64_t extent : buffer.extent) bytes *= extent;
  double uses = 1;
  const te::Op& op = tree.dag->op(tree.stage(reader).op);
  for (size_t axis = 0; axis < op.axes.size(); ++axis) {
    if (access_stride(tree, access, axis).depends) continue;
    uses *= static_cast<double>(op.axes[axis].extent.high);
  }
  return bytes >= kMinBytes && uses <= kMaxUses;
}

// Prefetches the next tile of a packed constant in the innermost reduce loop that is not unrolled.
void prefetch_constant(Tiling& tiling, StageIndex reader, StageIndex source) {
  const Stage& stage = tiling.tree().stage(reader);
  for (size_t k = stage.loops.size(); k-- > 0;) {
    const LoopVar& loop = tiling.tree().var(stage.loops[k]);
    if (loop.kind != IterKind::Reduce || loop.annotation != Annotation::None) continue;
    tiling.builder.add({PrefetchNext{stage.name, loop.name, tiling.name_of(source)}});
    return;
  }
}

}  // namespace

void pack_operands(Tiling& tiling, StageIndex reader, const AxisRoles& roles, StageIndex owner,
                   const std::vector<Name>& outer) {
  if (!tiling.style.packs) return;
  for (const Access& access : reused_reads(tiling.tree(), reader, roles)) {
    const Buffer& buffer = tiling.tree().buffer(access.buffer);
    if (buffer.is_constant) {
      const StageIndex source = buffer.stage;
      const bool streams = is_streamed(tiling.tree(), reader, access);
      tiling.builder.add({Pack{tiling.name_of(source), tiling.name_of(reader)}});
      if (streams) prefetch_constant(tiling, reader, source);
    } else if (!outer.empty()) {
      copy_tile(tiling, access, reader, owner, outer, roles);
    }
  }
}

void copy_gapped_operands(Tiling& tiling, StageIndex reader, const AxisRoles& roles) {
  for (const Access& access : reused_reads(tiling.tree(), reader, roles)) {
    if (is_gapped(tiling.tree(), access, roles)) copy_whole(tiling, access, reader, roles);
  }
}

}  // namespace tilewright::heuristic
