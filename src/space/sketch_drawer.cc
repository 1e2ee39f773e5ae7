#include "space/sketch_drawer.h"

#include <algorithm>
#include <map>

#include "schedule/apply.h"
#include "schedule/nest_plan.h"
#include "space/stage_draws.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

struct SketchDrawer::Scratch {
  LoopTree plain;     // of the empty trace
  LoopTree inlined;   // of the expressions inlined in this draw
  bool legal = true;  // the empty trace applies
};

namespace {

// One structure: what is inlined is known, and its tree.
class StructureDraw {
 public:
  StructureDraw(const Task& task, const LoopTree& tree, SketchWriter& writer)
      : task_(task),
        tree_(tree),
        writer_(writer),
        plan_(plan_nests(tree, 2 * task.target.threads)) {}

  void run() {
    loosen_plan();
    for (size_t k = tree_.order.size(); k-- > 0;) {  // readers first
      const StageIndex index = tree_.order[k];
      if (is_scheduled(tree_, index) && !plan_.nested.contains(index)) draw_nest(index);
    }
  }

 private:
  // Now and then what could share a nest does not.
  void loosen_plan() {
    std::erase_if(plan_.pairs, [&](const auto& pair) {
      if (!writer_.chance(0.1)) return false;
      plan_.nested.erase(pair.second);
      return true;
    });
    std::erase_if(plan_.groups, [&](const auto& group) {
      if (!writer_.chance(0.1)) return false;
      for (const StageIndex member : group.second.members) plan_.nested.erase(member);
      return true;
    });
  }

  DrawnStage describe(StageIndex index, bool may_pack) const {
    return {.tree = &tree_,
            .index = index,
            .target = &task_.target,
            .roles = axis_roles(tree_, index, task_.target, may_pack)};
  }

  void draw_nest(StageIndex index) {
    if (const auto pair = plan_.pairs.find(index); pair != plan_.pairs.end()) {
      const DrawnStage drawn = describe(pair->second, true);
      if (drawn.roles.has_vector() && !drawn.roles.vector_reduces) {
        points_[index] = points_[pair->second] = draw_tiled(writer_, drawn, index);
        return;
      }
      draw_alone(pair->second);
    } else if (const auto group = plan_.groups.find(index); group != plan_.groups.end()) {
      draw_group(index, group->second);
      return;
    }
    draw_alone(index);
  }

  void draw_alone(StageIndex index) {
    const bool attached = attach(index);
    const bool heavy = is_heavy(tree_, index);
    const DrawnStage drawn = describe(index, heavy);
    if (!attached && pays_factored(index)) {
      points_[index] = draw_factored(writer_, drawn);
    } else if (heavy && !attached) {
      points_[index] = draw_tiled(writer_, drawn, kNone);
    } else {
      points_[index] = draw_plain(writer_, drawn, 0, attached);
    }
  }

  bool pays_factored(StageIndex index) {
    const te::OpId op = tree_.stage(index).op;
    if (!tree_.dag->op(op).has_reduction()) return false;
    const bool little_space = te::needs_rfactor(*tree_.dag, op, task_.target.threads);
    return writer_.chance(little_space ? 0.6 : 0.02);
  }

  // A stage that all its readers' nest can compute where it is needed: now and then it is.
  bool attach(StageIndex index) {
    if (tree_.is_output(index) || is_heavy(tree_, index)) return false;
    const auto reads = readings_of(tree_, index);
    const bool one = std::ranges::all_of(
        reads, [&](const Access* access) { return access->stage == reads[0]->stage; });
    if (reads.empty() || !one || !writer_.chance(0.3)) return false;
    const auto found = points_.find(reads[0]->stage);
    if (found == points_.end() || found->second.empty()) return false;
    const AttachPoint& point = found->second[writer_.rng().below(found->second.size())];
    writer_.add(ComputeAt{tree_.stage(index).name, point.stage, point.loop});
    return true;
  }

  void draw_group(StageIndex root, const NestGroup& group) {
    points_[root] = draw_plain(writer_, describe(root, false), group.lead, false);
    for (const StageIndex member : group.members) {
      // A member that stands at root takes those that it reads there along.
      const bool follows = std::ranges::all_of(
          readings_of(tree_, member), [&](const Access* access) { return !alone_[access->stage]; });
      const bool attached = follows && !points_[root].empty() && writer_.chance(0.93);
      alone_[member] = !attached;
      if (attached) {
        const AttachPoint& point = points_[root].front();
        writer_.add(ComputeAt{tree_.stage(member).name, point.stage, point.loop});
      }
      points_[member] = draw_plain(writer_, describe(member, false), 0, attached);
    }
  }

  const Task& task_;
  const LoopTree& tree_;
  SketchWriter& writer_;
  NestPlan plan_;
  std::map<StageIndex, std::vector<AttachPoint>> points_;
  std::map<StageIndex, bool> alone_;
};

}  // namespace

SketchDrawer::SketchDrawer(const Task& task, const LoopTree& initial)
    : task_(task), initial_(initial), scratch_(std::make_unique<Scratch>()) {
  scratch_->legal = !apply(initial, Trace{}, &scratch_->plain);
}

SketchDrawer::~SketchDrawer() = default;

Sketch SketchDrawer::draw(Rng& rng) {
  SketchWriter writer(rng);
  // Expressions that are cheap where they are read; others now and then.
  Trace inlined;
  const LoopTree& plain = scratch_->plain;
  for (size_t k = plain.order.size(); k-- > 0;) {
    const StageIndex index = plain.order[k];
    const Stage& stage = plain.stage(index);
    if (stage.kind != StageKind::Compute || plain.is_output(index) || stage.buffers > 1) continue;
    if (plain.dag->op(stage.op).has_reduction()) continue;
    const bool cheap = te::is_strictly_inlineable(*plain.dag, stage.op);
    const double copies = copies_inlined(plain, index);
    const double likely = copies <= 1            ? 0.95
                          : cheap && copies <= 4 ? 0.8
                          : copies <= 16         ? 0.25
                                                 : 0.03;
    if (!rng.chance(likely)) continue;
    inlined.steps.emplace_back(ComputeInline{stage.name});
    writer.add(inlined.steps.back());
  }
  if (apply(initial_, inlined, &scratch_->inlined)) {
    StructureDraw(task_, plain, writer).run();  // apply will say that it is not legal
  } else {
    StructureDraw(task_, scratch_->inlined, writer).run();
  }
  return std::move(writer).finish();
}

}  // namespace tilewright::space
