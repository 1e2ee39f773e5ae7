#include "step_choices.h"

#include <algorithm>

#include "schedule/intrinsics.h"

namespace tilewright::testing {
namespace {

using namespace schedule;  // NOLINT: a test about nothing else

class StepChoices {
 public:
  explicit StepChoices(const LoopTree& tree) : tree_(tree) {}

  std::vector<Step> run() {
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      add_stage_steps(stage);
      for (const VarIndex loop : stage.loops) add_loop_steps(stage, tree_.var(loop).name);
      add_orders(stage);
    }
    return std::move(steps_);
  }

 private:
  void add(const Step& step) { steps_.push_back(step); }

  void add_stage_steps(const Stage& stage) {
    add(ComputeInline{stage.name});
    add(ComputeRoot{stage.name});
    add(CacheWrite{stage.name});
    const StageList readers = readers_of(stage);
    for (const StageName& reader : readers) {
      add_cache_read(stage.name, {reader});
      add(Pack{stage.name, reader});
    }
    if (readers.size() > 1) add_cache_read(stage.name, readers);
    for (const Stage& target : tree_.stages) {
      for (const VarIndex loop : target.loops) {
        add(ComputeAt{stage.name, target.name, tree_.var(loop).name});
      }
    }
  }

  void add_cache_read(StageName stage, const StageList& readers) {
    add(CacheRead{stage, readers, 0});
    const StageName first{.op = stage.op, .role = StageRole::Read};
    if (tree_.find_stage(first) != kNone) add(CacheRead{stage, readers, 1});
  }

  void add_loop_steps(const Stage& stage, Name loop) {
    const StageName name = stage.name;
    for (const Tail tail : {Tail::Peel, Tail::Overlap}) add(Split{name, loop, {2}, tail});
    for (const Tail tail : {Tail::Mask, Tail::Pad}) add(Split{name, loop, {3}, tail});
    for (const Annotation how :
         {Annotation::Parallel, Annotation::Vectorize, Annotation::Unroll, Annotation::Stream}) {
      add(Annotate{name, loop, how});
    }
    for (const ThreadAxis axis : {ThreadAxis::BlockX, ThreadAxis::ThreadX}) {
      add(Bind{name, loop, axis});
    }
    add(Rfactor{name, loop});
    add(Tensorize{name, loop, all_intrinsics()[0].name});
    for (const Stage& source : tree_.stages) {
      const StageList readers = readers_of(source);
      if (std::ranges::find(readers, name) == readers.end()) continue;
      for (const int64_t distance : {1, 2}) add(Prefetch{name, loop, source.name, distance});
      add(PrefetchNext{name, loop, source.name});
    }
    add_followers(name, loop);
  }

  void add_followers(StageName stage, Name loop) {
    for (const LoopVar& cut : tree_.vars) {
      if (!cut.is_split()) continue;
      const StageName source = tree_.stage(cut.stage).name;
      for (const Tail tail : {Tail::Peel, Tail::Mask}) {
        add(FollowSplit{stage, loop, source, cut.name, 2, tail});
      }
      add(FollowFusedSplit{stage, loop, source, {cut.name}, 0, Tail::Peel});
      for (const LoopVar& other : tree_.vars) {
        if (other.is_split() && other.stage == cut.stage && &other > &cut) {
          add(FollowFusedSplit{stage, loop, source, {cut.name, other.name}, 0, Tail::Overlap});
        }
      }
    }
  }

  void add_orders(const Stage& stage) {
    LoopList reversed;
    for (size_t k = stage.loops.size(); k-- > 0;) {
      reversed.push_back(tree_.var(stage.loops[k]).name);
    }
    if (reversed.size() > 2) add(Reorder{stage.name, reversed});
    for (size_t k = 0; k + 1 < stage.loops.size(); ++k) {
      const Name outer = tree_.var(stage.loops[k]).name, inner = tree_.var(stage.loops[k + 1]).name;
      add(Reorder{stage.name, {inner, outer}});
      add(Fuse{stage.name, {outer, inner}});
    }
  }

  StageList readers_of(const Stage& source) const {
    StageList readers;
    for (const Stage& stage : tree_.stages) {
      if (stage.place == Attachment::Inlined || readers.full()) continue;
      const bool reads = std::ranges::any_of(tree_.reads_of(stage), [&](const Access& access) {
        return &tree_.stage(tree_.buffer(access.buffer).stage) == &source;
      });
      if (reads) readers.push_back(stage.name);
    }
    return readers;
  }

  const LoopTree& tree_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> step_choices(const LoopTree& tree) { return StepChoices(tree).run(); }

}  // namespace tilewright::testing
