#include "schedule/default_trace.h"

#include <algorithm>
#include <map>

#include "schedule/stage_tiles.h"
#include "te/predicates.h"

namespace tilewright::schedule {
namespace {

constexpr double kCheapCopies = 4;  // how often a cheap expression may be computed again
constexpr int kCheapInstructions = 8;

class DefaultSchedule {
 public:
  DefaultSchedule(const Workload& workload, const Target& target, const LoopTree& initial,
                  const TileStyle& style)
      : dag_(*workload.dag), target_(target), builder_(initial), tiler_(builder_, target_, style) {}

  Result<Trace> run(const LoopTree& initial) {
    inline_expressions();
    find_pairs();
    find_groups();
    const std::vector<StageIndex> order = tree().order;  // steps add stages of their own
    for (size_t k = order.size(); k-- > 0;) {            // readers first
      if (is_scheduled(order[k])) place(order[k]);
    }
    if (!builder_.is_legal()) {
      return fail(ErrorKind::Unsupported, explain(initial, builder_.trace(), builder_.illegal()));
    }
    return builder_.trace();
  }

 private:
  struct Group {
    int lead = 0;                     // leading axes of the root that all members share
    std::vector<StageIndex> members;  // readers first
  };

  const LoopTree& tree() const { return builder_.tree(); }
  bool is_scheduled(StageIndex index) const {
    const Stage& stage = tree().stage(index);
    return stage.kind != StageKind::Input && stage.place != Place::Inlined;
  }

  std::vector<const Access*> reads_of_stage(StageIndex producer) const {
    std::vector<const Access*> reads;
    for (size_t k = 0; k < tree().stages.size(); ++k) {
      if (!is_scheduled(static_cast<StageIndex>(k))) continue;
      for (const Access& access : tree().reads_of(tree().stages[k])) {
        if (tree().buffer(access.buffer).stage == producer) reads.push_back(&access);
      }
    }
    return reads;
  }

  // Readers first, so that what is inlined already counts with its readers.
  void inline_expressions() {
    for (size_t k = tree().order.size(); k-- > 0;) {
      const StageIndex index = tree().order[k];
      const Stage& stage = tree().stage(index);
      if (stage.kind != StageKind::Compute || dag_.op(stage.op).has_reduction()) continue;
      if (tree().is_output(index) || !pays_inlined(index)) continue;
      builder_.add({ComputeInline{stage.name}});
    }
  }

  bool pays_inlined(StageIndex index) const {
    const Stage& stage = tree().stage(index);
    double uses = 0;
    bool regular = true;
    for (const Access* access : reads_of_stage(index)) {
      uses += iterations_of(tree(), tree().stage(access->stage));
      for (size_t d = 0; d < access->rank; ++d) {
        regular &= tree().dims[access->first_dim + d].affine;
      }
    }
    const double copies = uses / std::max(1.0, iterations_of(tree(), stage));
    if (copies <= 1 && regular) return true;
    return copies <= kCheapCopies && stage.instructions <= kCheapInstructions &&
           te::is_strictly_inlineable(dag_, stage.op);
  }

  // Does the access take the element of its own indices, axis by axis?
  bool is_elementwise(const Access& access, size_t axes) const {
    if (access.rank != axes) return false;
    return leading_axes(access) == static_cast<int>(axes);
  }

  // Dimensions from the outside in that are the reader's own axis of that number, whole.
  int leading_axes(const Access& access) const {
    const Stage& reader = tree().stage(access.stage);
    const Buffer& buffer = tree().buffer(access.buffer);
    int count = 0;
    for (size_t d = 0; d < std::min<size_t>(access.rank, reader.dims.size()); ++d) {
      const AccessDim& dim = tree().dims[access.first_dim + d];
      const bool own = dim.affine && dim.index.constant == 0 && dim.index.terms.size() == 1 &&
                       dim.index.terms[0].var == d && dim.index.terms[0].coefficient == 1 &&
                       tree().var(reader.dims[d]).extent == buffer.extent[d];
      if (!own) break;
      ++count;
    }
    return count;
  }

  // Tiled reductions with one reader that takes them element by element.
  void find_pairs() {
    for (const StageIndex index : tree().order) {
      if (!is_scheduled(index) || tree().is_output(index) || !is_heavy(tree(), index)) continue;
      if (has_constant_axes(index)) continue;
      const auto reads = reads_of_stage(index);
      const StageIndex reader = reads.empty() ? kNone : reads[0]->stage;
      const bool one = reader != kNone && std::ranges::all_of(reads, [&](const Access* access) {
                         return access->stage == reader &&
                                is_elementwise(*access, tree().stage(reader).axes.size());
                       });
      if (one && !dag_.op(tree().stage(reader).op).has_reduction()) pair_of_.emplace(reader, index);
    }
    for (const auto& [reader, heavy] : pair_of_) in_pair_[heavy] = reader;
  }

  bool has_constant_axes(StageIndex index) const {
    const te::Op& op = dag_.op(tree().stage(index).op);
    return std::ranges::any_of(op.reduce_axes,
                               [](const te::Axis& a) { return a.hints.simplify_const_index; });
  }

  // Which stages are computed row by row with the stage that reads them.
  void find_groups() {
    std::map<StageIndex, StageIndex> root_of;
    std::map<StageIndex, int> shared;  // axes in common with the root
    for (size_t k = tree().order.size(); k-- > 0;) {
      const StageIndex index = tree().order[k];
      if (!is_scheduled(index)) continue;
      const StageIndex root = group_for(index, root_of, shared);
      if (root != kNone) {
        groups_[root].members.push_back(index);
        member_.push_back(index);
        root_of[index] = root;
        continue;
      }
      root_of[index] = index;
      shared[index] = static_cast<int>(tree().stage(index).dims.size());
    }
  }

  StageIndex group_for(StageIndex index, const std::map<StageIndex, StageIndex>& root_of,
                       std::map<StageIndex, int>& shared) {
    if (tree().is_output(index) || is_heavy(tree(), index) || has_constant_axes(index))
      return kNone;
    const auto reads = reads_of_stage(index);
    if (reads.empty()) return kNone;
    const StageIndex root = root_of.at(reads[0]->stage);
    if (pair_of_.contains(root) || is_heavy(tree(), root)) return kNone;
    int lead = static_cast<int>(tree().stage(root).dims.size());
    if (const auto group = groups_.find(root); group != groups_.end()) lead = group->second.lead;
    int common = static_cast<int>(kMaxRank);
    for (const Access* access : reads) {
      if (root_of.at(access->stage) != root) return kNone;
      common = std::min({common, leading_axes(*access), shared.at(access->stage)});
    }
    lead = std::min(lead, common);
    double rows = 1;
    for (int axis = 0; axis < lead; ++axis) {
      rows *= static_cast<double>(
          tree().var(tree().stage(root).axes[static_cast<size_t>(axis)]).extent);
    }
    if (lead == 0 || rows < 2 * target_.threads) return kNone;
    groups_[root].lead = lead;
    shared[index] = common;
    return root;
  }

  void place(StageIndex index) {
    if (tree().stage(index).place == Place::At || in_pair_.contains(index)) return;
    if (std::ranges::find(member_, index) != member_.end()) return;
    if (const auto pair = pair_of_.find(index); pair != pair_of_.end()) {
      tiler_.tile_pair(index, pair->second);
    } else if (const auto group = groups_.find(index); group != groups_.end()) {
      place_group(index, group->second);
    } else if (!factor(index)) {
      tiler_.tile_root(index);
    }
  }

  void place_group(StageIndex root, const Group& group) {
    const StageName name = tree().stage(root).name;
    const std::optional<Name> loop = tiler_.tile_led(root, group.lead);
    for (const StageIndex member : group.members) {
      const bool attached =
          loop && builder_.add({ComputeAt{tree().stage(member).name, name, *loop}});
      if (attached) {
        tiler_.tile_inner(member);
      } else {
        tiler_.tile_root(member);
      }
    }
  }

  // A long reduction with little space is cut into parts, one a thread or more.
  bool factor(StageIndex index) {
    const Stage& stage = tree().stage(index);
    const te::Op& op = dag_.op(stage.op);
    if (!op.has_reduction() || target_.threads == 1) return false;
    const double space =
        iterations_of(tree(), stage) / static_cast<double>(te::reduce_size(dag_, stage.op));
    if (space >= 2 * target_.threads || te::reduce_size(dag_, stage.op) < 1 << 15) return false;
    const te::Axis& axis = *std::ranges::max_element(
        op.reduce_axes, {}, [](const te::Axis& a) { return a.extent.high; });
    const te::Axis& first = op.reduce_axes[0];
    const te::Axis& cut = first.extent.high >= 4 * target_.threads ? first : axis;
    const int64_t parts = 4 * target_.threads;
    const int64_t length = (cut.extent.high + parts - 1) / parts;
    const StageName name = stage.name;
    if (!builder_.add(
            {Split{name, cut.name, {length}, Tail::Mask}, Rfactor{name, cut.name.child(0)}})) {
      return false;
    }
    const StageName partial{.op = name.op, .role = StageRole::Rfactor};
    builder_.add({Annotate{partial, cut.name.child(0), Annotation::Parallel}});
    const StageIndex made = tree().find_stage(partial);
    tiler_.tile_inner(made);
    return true;
  }

  const te::Dag& dag_;
  const Target& target_;
  TraceBuilder builder_;
  StageTiler tiler_;
  std::map<StageIndex, StageIndex> pair_of_;  // reader -> what it reads tile by tile
  std::map<StageIndex, StageIndex> in_pair_;  // the other way round
  std::map<StageIndex, Group> groups_;
  std::vector<StageIndex> member_;
};

}  // namespace

Result<Trace> default_trace(const Workload& workload, const Target& target, int variant) {
  Result<LoopTree> initial = initial_tree(workload);
  if (!initial) return std::unexpected(initial.error());
  const TileStyle style{.vectors = variant == 0, .packs = variant == 0};
  return DefaultSchedule(workload, target, *initial, style).run(*initial);
}

}  // namespace tilewright::schedule
