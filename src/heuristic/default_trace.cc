#include "heuristic/default_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "heuristic/chain_tiler.h"
#include "heuristic/nest_plan.h"
#include "heuristic/thread_loops.h"
#include "heuristic/transform_tiles.h"
#include "heuristic/window.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "schedule/program_hash.h"
#include "te/predicates.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr double kCheapCopies = 4;  // how often a cheap expression may be recomputed
constexpr int kCheapInstructions = 8;
constexpr int kMoveInstructions = 2;

class DefaultSchedule {
 public:
  DefaultSchedule(const Workload& workload, const Target& target, const LoopTree& initial,
                  const TileStyle& style)
      : dag_(*workload.dag),
        target_(target),
        builder_(initial),
        tiling_{builder_, target_, style},
        tiler_(tiling_) {}

  Result<Trace> run(const LoopTree& initial) {
    inline_expressions();
    plan_ = plan_nests(tree(), 2 * target_.threads(), tiling_.style.vectors ? &target_ : nullptr);
    for (const auto& [root, last] : plan_.pairs) {
      if (auto chain = find_chain(tree(), root, last)) chains_.emplace(root, *std::move(chain));
    }
    const std::vector<StageIndex> order = tree().order;  // steps add stages
    for (size_t k = order.size(); k-- > 0;) {            // readers first
      if (tree().stage(order[k]).has_loops()) place(order[k]);
    }
    if (!builder_.is_legal()) {
      return fail(ErrorKind::Unsupported, explain(initial, builder_.trace(), builder_.illegal()));
    }
    return builder_.trace();
  }

 private:
  const LoopTree& tree() const { return builder_.tree(); }

  // Readers first, so that inlined stages count with their readers.
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
    const bool regular = std::ranges::all_of(accesses_to(tree(), index), [&](const Access* access) {
      const auto dims = std::span(tree().dims).subspan(access->first_dim, access->rank);
      return std::ranges::all_of(dims, &AccessDim::affine);
    });
    const double copies = copies_inlined(tree(), index);
    if (copies <= 1 && regular) return true;
    if (regular && (feeds_transform(index) || is_view(index))) return true;
    if (tiling_.style.vectors && pays_inlined_border(tree(), index, target_)) return true;
    return copies <= kCheapCopies && stage.instructions <= kCheapInstructions &&
           te::is_strictly_inlineable(dag_, stage.op);
  }

  // Elements that are only renamed: a slice, a reshape or a transposition whose rows stay
  // contiguous, read by stages whose lanes walk along these rows or load one element for all.
  bool is_view(StageIndex index) const {
    const Stage& stage = tree().stage(index);
    const te::Op& op = dag_.op(stage.op);
    if (op.body.size() != 1 || op.body[0].kind() != ir::ExprKind::Load || stage.axes.empty()) {
      return false;
    }
    const Access& moved = tree().reads_of(stage)[0];
    const auto dims = std::span(tree().dims).subspan(moved.first_dim, moved.rank);
    if (!std::ranges::all_of(dims, &AccessDim::affine)) return false;
    const AccessStride own = access_stride(tree(), moved, stage.axes.size() - 1);
    if (!own.is_contiguous() || !tiling_.style.vectors) return false;
    return std::ranges::all_of(accesses_to(tree(), index), [&](const Access* access) {
      const AxisRoles roles = axis_roles(tree(), access->stage, target_, tiling_.style.packs);
      if (!roles.has_vector()) return false;
      const AccessStride read = access_stride(tree(), *access, static_cast<size_t>(roles.vector));
      return !read.depends || read.is_contiguous();
    });
  }

  // Elements that are only moved, each once, to a stage that multiplies them by constant matrices:
  // inlined, because all uses of an element are unrolled at its read.
  bool feeds_transform(StageIndex index) const {
    const Stage& stage = tree().stage(index);
    if (stage.instructions > kMoveInstructions || !tiling_.style.vectors) return false;
    return std::ranges::all_of(accesses_to(tree(), index), [&](const Access* access) {
      const Stage& reader = tree().stage(access->stage);
      double once = iterations_of(tree(), reader);
      for (const te::Axis& axis : dag_.op(reader.op).axes) {
        if (axis.hints.simplify_const_index) once /= static_cast<double>(axis.extent.high);
      }
      return once < iterations_of(tree(), reader) && once <= iterations_of(tree(), stage);
    });
  }

  void place(StageIndex index) {
    if (placed_.contains(index)) return;
    if (const auto chain = chains_.find(index); chain != chains_.end()) {
      if (tile_chain(tiling_, tiler_, chain->second)) {
        placed_.insert(chain->second.members.begin(), chain->second.members.end());
        return;
      }
    }
    if (plan_.nested.contains(index)) return;
    if (const auto pair = plan_.pairs.find(index); pair != plan_.pairs.end()) {
      tiler_.tile_pair(index, pair->second);
    } else if (const auto tiles = plan_.tiles.find(index); tiles != plan_.tiles.end()) {
      place_tiles(index, tiles->second);
    } else if (const auto group = plan_.groups.find(index); group != plan_.groups.end()) {
      place_group(index, group->second);
    } else if (!factor(index)) {
      tiler_.tile_root(index);
    }
  }

  void place_tiles(StageIndex reader, StageIndex transform) {
    const auto found = tile_reader(tree(), transform);
    if (found && tile_with_reader(tiling_, transform, *found)) return;
    tiler_.tile_root(reader);
    tiler_.tile_root(transform);
  }

  void place_group(StageIndex root, const NestGroup& group) {
    const StageName name = tree().stage(root).name;
    std::vector<StageIndex> all = group.members;
    all.push_back(root);
    const bool large = is_worth_threads(tree(), all, target_);
    const std::optional<Name> loop = tiler_.tile_led(root, group.lead, large);
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

  // A long reduction with few spatial iterations is split into parts, one or more per thread.
  bool factor(StageIndex index) {
    const Stage& stage = tree().stage(index);
    const te::Op& op = dag_.op(stage.op);
    if (!op.has_reduction() || target_.threads() == 1) return false;
    const double space =
        iterations_of(tree(), stage) / static_cast<double>(te::reduce_size(dag_, stage.op));
    if (space >= 2 * target_.threads() || te::reduce_size(dag_, stage.op) < 1 << 15) return false;
    const te::Axis& axis = *std::ranges::max_element(
        op.reduce_axes, {}, [](const te::Axis& a) { return a.extent.high; });
    const te::Axis& first = op.reduce_axes[0];
    const te::Axis& cut = first.extent.high >= 4 * target_.threads() ? first : axis;
    const int64_t parts = 4 * target_.threads();
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
  Tiling tiling_;
  StageTiler tiler_;
  NestPlan plan_;
  std::map<StageIndex, Chain> chains_;  // per root
  std::set<StageIndex> placed_;         // members of chains
};

}  // namespace

Result<Trace> default_trace(const Workload& workload, const Target& target, int variant) {
  const LoopTree initial = TRY(initial_tree(workload));
  const bool other = variant != 0;
  const bool vectors = !other || workload.dag->flop() > kScalarFlop;
  const TileStyle style{.vectors = vectors, .small = other, .packs = vectors};
  return DefaultSchedule(workload, target, initial, style).run(initial);
}

Result<DefaultProgram> default_program(const Task& task) {
  DefaultProgram made;
  made.trace = TRY(default_trace(task.workload, task.target));
  const LoopTree initial = TRY(initial_tree(task.workload));
  made.tree = TRY(apply_or_explain(initial, made.trace));
  made.program = program_hash(made.tree, task.target);
  return made;
}

}  // namespace tilewright::heuristic
