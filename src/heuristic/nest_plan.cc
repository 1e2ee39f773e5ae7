#include "heuristic/nest_plan.h"

#include <algorithm>

#include "heuristic/axis_roles.h"
#include "heuristic/transform_tiles.h"
#include "heuristic/window.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// Leading dimensions that are indexed by the reader's axis of the same number, whole.
int leading_axes(const LoopTree& tree, const Access& access) {
  const Stage& reader = tree.stage(access.stage);
  const Buffer& buffer = tree.buffer(access.buffer);
  int count = 0;
  for (size_t d = 0; d < std::min<size_t>(access.rank, reader.dims.size()); ++d) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    const bool own = dim.affine && dim.index.constant == 0 && dim.index.terms.size() == 1 &&
                     dim.index.terms[0].var == d && dim.index.terms[0].coefficient == 1 &&
                     tree.var(reader.dims[d]).extent == buffer.extent[d];
    if (!own) break;
    ++count;
  }
  return count;
}

// True if the access reads the element at the reader's own indices.
bool is_elementwise(const LoopTree& tree, const Access& access) {
  const size_t axes = tree.stage(access.stage).axes.size();
  return access.rank == axes && leading_axes(tree, access) == static_cast<int>(axes);
}

bool has_constant_axes(const LoopTree& tree, StageIndex index) {
  const te::Op& op = tree.dag->op(tree.stage(index).op);
  return std::ranges::any_of(op.reduce_axes,
                             [](const te::Axis& a) { return a.hints.simplify_const_index; });
}

class Planner {
 public:
  Planner(const LoopTree& tree, double min_rows, const Target* vectors)
      : tree_(tree), min_rows_(min_rows), vectors_(vectors) {}

  NestPlan run() {
    for (const StageIndex index : tree_.order) find_pair(index);
    for (const StageIndex index : tree_.order) find_tiles(index);
    for (size_t k = tree_.order.size(); k-- > 0;) {  // readers first
      const StageIndex index = tree_.order[k];
      if (!tree_.stage(index).has_loops()) continue;
      const StageIndex root = find_root(index);
      root_of_[index] = root == kNone ? index : root;
      if (root == kNone) {
        shared_[index] = static_cast<int>(tree_.stage(index).dims.size());
      } else {
        plan_.groups[root].members.push_back(index);
        plan_.nested[index] = root;
      }
    }
    return std::move(plan_);
  }

 private:
  void find_pair(StageIndex index) {
    if (!tree_.stage(index).has_loops() || tree_.is_output(index)) return;
    const bool light = vectors_ != nullptr && is_light_window(tree_, index, *vectors_);
    if (!light && !is_heavy(tree_, index)) return;
    if (has_constant_axes(tree_, index)) return;
    const auto reads = accesses_to(tree_, index);
    if (reads.empty()) return;
    const StageIndex reader = reads[0]->stage;
    const bool one = std::ranges::all_of(reads, [&](const Access* access) {
      return access->stage == reader && is_elementwise(tree_, *access);
    });
    if (!one || tree_.dag->op(tree_.stage(reader).op).has_reduction()) return;
    if (plan_.pairs.emplace(reader, index).second) plan_.nested[index] = reader;
  }

  void find_tiles(StageIndex index) {
    if (vectors_ == nullptr || !tree_.stage(index).has_loops()) return;
    const auto reader = tile_reader(tree_, index);
    if (!reader || plan_.pairs.contains(reader->stage)) return;
    if (plan_.tiles.emplace(reader->stage, index).second) plan_.nested[index] = reader->stage;
  }

  // The root of the group that the stage joins.
  StageIndex find_root(StageIndex index) {
    if (tree_.is_output(index) || is_heavy(tree_, index) || has_constant_axes(tree_, index)) {
      return kNone;
    }
    if (owns_tiles(index)) return kNone;
    const auto reads = accesses_to(tree_, index);
    if (reads.empty()) return kNone;
    const StageIndex root = root_of_.at(reads[0]->stage);
    if (owns_tiles(root) || is_heavy(tree_, root)) return kNone;
    int common = static_cast<int>(kMaxRank);
    for (const Access* access : reads) {
      if (root_of_.at(access->stage) != root) return kNone;
      common = std::min({common, leading_axes(tree_, *access), shared_.at(access->stage)});
    }
    const auto group = plan_.groups.find(root);
    const int before = group == plan_.groups.end() ? static_cast<int>(tree_.stage(root).dims.size())
                                                   : group->second.lead;
    const int lead = std::min(before, common);
    double rows = 1;
    for (int axis = 0; axis < lead; ++axis) {
      rows *=
          static_cast<double>(tree_.var(tree_.stage(root).axes[static_cast<size_t>(axis)]).extent);
    }
    if (lead == 0 || rows < min_rows_) return kNone;
    plan_.groups[root].lead = lead;
    shared_[index] = common;
    return root;
  }

  bool owns_tiles(StageIndex index) const {
    return plan_.pairs.contains(index) || plan_.tiles.contains(index);
  }

  const LoopTree& tree_;
  double min_rows_;
  const Target* vectors_;
  NestPlan plan_;
  std::map<StageIndex, StageIndex> root_of_;
  std::map<StageIndex, int> shared_;  // leading axes shared with the root
};

}  // namespace

std::vector<const Access*> accesses_to(const LoopTree& tree, StageIndex producer) {
  std::vector<const Access*> reads;
  for (size_t k = 0; k < tree.stages.size(); ++k) {
    if (!tree.stages[k].has_loops()) continue;
    for (const Access& access : tree.reads_of(tree.stages[k])) {
      if (tree.buffer(access.buffer).stage == producer) reads.push_back(&access);
    }
  }
  return reads;
}

double copies_inlined(const LoopTree& tree, StageIndex stage) {
  double uses = 0;
  for (const Access* access : accesses_to(tree, stage)) {
    uses += iterations_of(tree, tree.stage(access->stage));
  }
  return uses / std::max(1.0, iterations_of(tree, tree.stage(stage)));
}

NestPlan plan_nests(const LoopTree& tree, double min_rows, const Target* vectors) {
  return Planner(tree, min_rows, vectors).run();
}

}  // namespace tilewright::heuristic
