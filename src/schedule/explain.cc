#include "schedule/explain.h"

#include <fmt/format.h>

#include <string>

#include "schedule/apply.h"
#include "schedule/intrinsics.h"

namespace tilewright::schedule {
namespace {

std::string loops_of(const LoopTree& tree, StageName name) {
  const StageIndex index = tree.find_stage(name);
  if (index == kNone) return "none";
  std::string out;
  for (const VarIndex loop : tree.stage(index).loops) {
    out += (out.empty() ? "" : ", ") + tree.var(loop).name.text();
  }
  return out.empty() ? "none" : out;
}

std::string stages_of(const LoopTree& tree) {
  std::string out;
  for (const StageIndex index : tree.order) {
    out += (out.empty() ? "" : ", ") + tree.stage(index).name.text();
  }
  return out;
}

std::string readers_of(const LoopTree& tree, StageName name) {
  const StageIndex index = tree.find_stage(name);
  std::string out;
  for (const Stage& stage : tree.stages) {
    if (stage.place == Attachment::Inlined) continue;
    for (const Access& access : tree.reads_of(stage)) {
      if (tree.buffer(access.buffer).stage != index) continue;
      out += (out.empty() ? "" : ", ") + stage.name.text();
      break;
    }
  }
  return out.empty() ? "no stage" : out;
}

// Factors are rejected for their value, for their product, or for a remainder where partial results
// must not have a tail.
std::string factor_reason(const Illegal& illegal) {
  const std::string where = fmt::format("loop {} of {}", illegal.loop.text(), illegal.stage.text());
  if (illegal.a < 1 || illegal.a > int64_t{1} << 31) {
    return fmt::format("factor {} for {}: factors are whole numbers from 1 to 2^31, at least one",
                       illegal.a, where);
  }
  if (illegal.stage.role == StageRole::Rfactor) {
    return fmt::format(
        "{} leaves a remainder; a factored reduction needs factors that divide, or tail=pad or "
        "mask",
        where);
  }
  return fmt::format("factor {} takes the product of the factors for {} above 2^40", illegal.a,
                     where);
}

bool is_reduce_loop(const LoopTree& tree, const Illegal& illegal) {
  const StageIndex stage = tree.find_stage(illegal.stage);
  if (stage == kNone) return false;
  const VarIndex loop = tree.find_loop(stage, illegal.loop);
  return loop != kNone && tree.var(loop).kind == IterKind::Reduce;
}

bool bound_to_blocks(const LoopTree& tree, const Illegal& illegal) {
  const VarIndex loop = tree.find_loop(tree.find_stage(illegal.stage), illegal.loop);
  return loop != kNone && is_block(tree.var(loop).bound);
}

// An outer part is not outside the inner ones. In a factored reduction rfactor determines the
// order, so only the factors can be changed.
std::string tail_order_reason(const LoopTree& tree, const Illegal& illegal) {
  const std::string leaves =
      illegal.b > 0 ? fmt::format("leaves a remainder of {} of {}", illegal.b, illegal.a)
                    : fmt::format("of {} may leave a remainder in a tail of its reader", illegal.a);
  const std::string where =
      fmt::format("part {} of {} does not run outside the inner parts of its split, which {}",
                  illegal.loop.text(), illegal.stage.text(), leaves);
  if (illegal.stage.role == StageRole::Rfactor && is_reduce_loop(tree, illegal)) {
    return where + "; a factored reduction needs factors that divide, or tail=pad or mask";
  }
  return where + "; keep outer parts outside inner ones or use a factor that divides";
}

// The stage whose values a step concerns.
StageName source_of(const Step* step) {
  if (step == nullptr) return {};
  if (const auto* prefetch = std::get_if<Prefetch>(step)) return prefetch->source;
  if (const auto* prefetch = std::get_if<PrefetchNext>(step)) return prefetch->source;
  return std::visit([](const auto& s) { return s.stage; }, *step);
}

std::string not_a_reader(const LoopTree& tree, const Illegal& illegal, StageName source) {
  const std::string readers = readers_of(tree, source);
  const bool several = readers.find(',') != std::string::npos;
  return fmt::format("{} does not read {}; {} {}", illegal.stage.text(), source.text(), readers,
                     several ? "do" : "does");
}

std::string names_of(IntrinsicTable table) {
  std::string names;
  for (const TensorIntrinsic& intrinsic : table) {
    names += (names.empty() ? "" : ", ") + intrinsic.name.text();
  }
  return names;
}

std::string count_word(size_t count) { return count == 2 ? "two" : std::to_string(count); }

// The loops that an intrinsic replaces.
std::string loops_wanted(const TensorIntrinsic& intrinsic) {
  const size_t spatial = intrinsic.spatial_axes();
  if (intrinsic.axes() == 2 && spatial == 1) {
    return "two innermost loops, a spatial one and inside it one of the reduction";
  }
  return fmt::format("{} innermost loops, {} spatial and inside them {} of the reduction",
                     count_word(intrinsic.axes()), spatial, intrinsic.axes() - spatial);
}

std::string intrinsic_reason(const LoopTree& tree, const Illegal& illegal, const Tensorize& step) {
  const std::string stage = illegal.stage.text();
  const std::string loop = illegal.loop.text();
  const std::string name = step.intrinsic.text();
  const TensorIntrinsic* intrinsic = find_intrinsic(step.intrinsic, tree.intrinsics);
  if (intrinsic == nullptr) {
    return fmt::format("there is no intrinsic {}; intrinsics are {}", name,
                       names_of(tree.intrinsics));
  }
  switch (illegal.code) {
    case IllegalCode::IntrinsicLoops:
      return fmt::format(
          "{} takes the place of the {}, and {} is not the first of such {}; the loops of {} are "
          "{}",
          name, loops_wanted(*intrinsic), loop, count_word(intrinsic->axes()), stage,
          loops_of(tree, illegal.stage));
    case IllegalCode::IntrinsicExtent:
      return fmt::format("loop {} of {} takes {} values, and {} has {} in its place; split it",
                         loop, stage, illegal.a, name, illegal.b);
    case IllegalCode::IntrinsicOperator:
      return fmt::format("{} does not compute what {} does: {}", stage, name,
                         intrinsic->to_string());
    case IllegalCode::IntrinsicOperand:
      return fmt::format(
          "{} does not read the operands of {} once each from separate buffers; do not inline "
          "the stages that compute them",
          stage, name);
    default:
      break;
  }
  const std::string remedy =
      illegal.stage == step.stage
          ? "let it be the innermost part of the last dimension"
          : fmt::format("pack {} or a cache_read of it for {}", stage, step.stage.text());
  if (illegal.code == IllegalCode::IntrinsicUneven) {
    return fmt::format(
        "values of loop {} are in several tiles of the layout of {}, at uneven distances, but {} "
        "needs {}; {}",
        loop, stage, name, illegal.b, remedy);
  }
  return fmt::format("values of loop {} are {} elements apart in {}, but {} needs {}; {}", loop,
                     illegal.a, stage, name, illegal.b, remedy);
}

// The reason, and what would be legal. `tree` is the state in which it was rejected, `step` the
// rejected step, or null if it is not a single step.
std::string reason(const LoopTree& tree, const Illegal& illegal, const Step* step) {
  const std::string stage = illegal.stage.text();
  const std::string loop = illegal.loop.text();
  switch (illegal.code) {
    case IllegalCode::None:
      return "the step is legal";
    case IllegalCode::NoSuchStage:
      return fmt::format("there is no stage {}; the stages are {}", stage, stages_of(tree));
    case IllegalCode::NoSuchLoop:
      return fmt::format("{} has no loop {}; its loops are {}", stage, loop,
                         loops_of(tree, illegal.stage));
    case IllegalCode::StageExists:
      return fmt::format("there is a stage {} already; give this one another ordinal", stage);
    case IllegalCode::BadOrdinal:
      return fmt::format("ordinal {} is not a number from 0 to 255", illegal.a);
    case IllegalCode::StageIsInput:
      return fmt::format("{} is an input and has no loops; cache_read makes a stage of it", stage);
    case IllegalCode::StageIsInlined:
      return fmt::format("{} is inlined and has no loops; drop its compute_inline", stage);
    case IllegalCode::StageIsOutput:
      return fmt::format(
          "{} is an output, which is computed at root; cache_write makes a stage "
          "that can be placed",
          stage);
    case IllegalCode::StageHasReduction:
      return fmt::format("{} is a reduction; only stages without one can be {}", stage,
                         step != nullptr && std::holds_alternative<Annotate>(*step)
                             ? "streamed (non-temporal stores)"
                             : "inlined");
    case IllegalCode::StageHasNoReduction:
      return fmt::format("{} is not a reduction, or was factored already", stage);
    case IllegalCode::StageHasSteps:
      return fmt::format(
          "{} has been scheduled already; this step comes before its splits, "
          "reorders and placement",
          stage);
    case IllegalCode::LoopIsAnnotated:
      return fmt::format("loop {} of {} is annotated already; {}", loop, stage,
                         step != nullptr && std::holds_alternative<Annotate>(*step)
                             ? "a loop takes one annotation"
                             : "annotate after this step");
    case IllegalCode::LoopIsAttachPoint:
      return fmt::format("a stage is computed at loop {} of {}; compute_at comes after this step",
                         loop, stage);
    case IllegalCode::LoopIsSpatial:
      return fmt::format("loop {} of {} is not a reduce loop", loop, stage);
    case IllegalCode::BadFactor:
      return factor_reason(illegal);
    case IllegalCode::TooManyLoops:
      return fmt::format("{} would have more than {} loops", stage, illegal.a);
    case IllegalCode::TooManyTerms:
      return fmt::format("an index of {} depends on more than {} loops; split less", stage,
                         arith::Affine::kMaxTerms);
    case IllegalCode::TooManyStages:
      return fmt::format("there would be more than {} stages", illegal.a);
    case IllegalCode::TooManyReads:
      return fmt::format("with {} there would be more than {} reads; inline less", stage,
                         illegal.a);
    case IllegalCode::LoopNamedTwice:
      return fmt::format("loop {} is named twice", loop);
    case IllegalCode::NotAdjacent:
      return fmt::format(
          "fuse takes two or more loops, each directly inside the one before; {} "
          "has {}",
          stage, loops_of(tree, illegal.stage));
    case IllegalCode::MixedKinds:
      return fmt::format("loop {} of {} is of another kind: spatial and reduce loops do not fuse",
                         loop, stage);
    case IllegalCode::TargetIsSelf:
      return fmt::format("{} would be computed inside itself; its readers are {}", stage,
                         readers_of(tree, illegal.stage));
    case IllegalCode::ReaderOutside:
      return fmt::format("{} reads it outside loop {}; compute it further out or at root", stage,
                         loop);
    case IllegalCode::InsideFold:
      return fmt::format(
          "{} folds the partial results at loop {}; all of them are computed outside the loops "
          "that fold them",
          stage, loop);
    case IllegalCode::AlreadyCached:
      return fmt::format("{} is a copy already, computes through one, or holds partial results",
                         stage);
    case IllegalCode::NothingReads:
      return fmt::format("name the readers of {}; they are {}", stage,
                         readers_of(tree, illegal.stage));
    case IllegalCode::NotAReader:
      return not_a_reader(tree, illegal, source_of(step));
    case IllegalCode::NestedParallel:
      return fmt::format(
          "loop {} of {} is parallel inside a parallel loop; a CPU has one level of parallel "
          "loops, "
          "which do not mix with loops bound to a GPU",
          loop, stage);
    case IllegalCode::ParallelReduce:
      return fmt::format("loop {} of {} is a reduction and cannot be parallel; rfactor it first",
                         loop, stage);
    case IllegalCode::VectorizeNotInnermost:
      return fmt::format(
          "loop {} of {} is vectorized: only unrolled loops and no attached stage "
          "may be inside it",
          loop, stage);
    case IllegalCode::TwoVectorized:
      return fmt::format("{} has a second vectorized loop {}", stage, loop);
    case IllegalCode::PartlyFused:
      return fmt::format(
          "variable {} of {} was fused and split, and only part of it is known at "
          "that loop; attach outside or inside all loops it is rebuilt from",
          loop, stage);
    case IllegalCode::TailOrder:
      return tail_order_reason(tree, illegal);
    case IllegalCode::OverlapReduce:
      return fmt::format(
          "an overlapping tile of {} computes elements twice, so the whole reduction must happen "
          "inside the outer parts of {}; reorder the reduce loops inwards or choose another tail",
          stage, loop);
    case IllegalCode::OverlapParallel:
      return fmt::format(
          "tiles of {} that overlap would be folded by two threads at once; cache_write it, attach "
          "the fold inside {} and let the copy overlap, or choose another tail",
          stage, loop);
    case IllegalCode::PadOutput:
      return fmt::format(
          "{} is an output and has no room behind its end; cache_write it and pad the copy, or let "
          "the tail peel, mask or overlap",
          stage);
    case IllegalCode::PadInner:
      return fmt::format(
          "{} is a part of an axis of {}: its surplus would be in the next tile; pad a split of "
          "the axis itself",
          loop, stage);
    case IllegalCode::NoSuchSplit:
      return fmt::format("{} of {} was not split before this step", loop.empty() ? "a loop" : loop,
                         stage);
    case IllegalCode::BadParts:
      return fmt::format(
          "{} parts were requested, but the split of {} {} has {}; 2 to {} can follow it",
          illegal.a, stage, loop, illegal.b, illegal.b);
    case IllegalCode::BadLevel:
      return fmt::format("level {} was requested, but the split of {} {} has the levels 0 to {}",
                         illegal.a, stage, loop, illegal.b);
    case IllegalCode::BadDistance:
      return fmt::format("a distance of {}; it is 1 to {} iterations", illegal.a, illegal.b);
    case IllegalCode::PrefetchUncomputed:
      return fmt::format(
          "{} is computed at or inside loop {}, in each iteration; prefetch it further in", stage,
          loop);
    case IllegalCode::BoundTwice:
      return fmt::format("{} of {} is bound to an axis that a loop around it has already", loop,
                         stage);
    case IllegalCode::PackInput:
      return fmt::format(
          "{} is an input that changes from call to call; cache_read it and pack the "
          "copy, or declare it constant",
          stage);
    case IllegalCode::PackOutput:
      return fmt::format("{} is an output, whose layout the caller decides", stage);
    case IllegalCode::PackIndex:
      return fmt::format(
          "{} does not read each dimension by a separate axis (dimension {}); "
          "only such operands can be packed",
          stage, illegal.a);
    case IllegalCode::PackTiles:
      return fmt::format(
          "the loops of {} traverse a packed dimension in steps of {} and of {}; one step must "
          "divide the other",
          stage, illegal.a, illegal.b);
    case IllegalCode::ReadsTwice:
      return fmt::format("{} reads it in two ways; only one can decide the layout", stage);
    case IllegalCode::AlreadyPacked:
      return fmt::format("{} is packed already", stage);
    case IllegalCode::MultipleOutputs:
      return fmt::format("{} computes several tensors at once", stage);
    case IllegalCode::RankTooHigh:
      return fmt::format("{} would have more than {} dimensions", stage, illegal.a);
    case IllegalCode::NeedsReassociate:
      return fmt::format(
          "{} is a fold of floats, which this workload does not allow to be folded in "
          "another order (permission reassociate): no rfactor, and reduce loops in the order of "
          "their axes and parts",
          stage);
    case IllegalCode::CodeTooLarge:
      return fmt::format(
          "the unrolled code comes to about {} instructions; {} are allowed: unroll less, or take "
          "factors that divide",
          illegal.a, illegal.b);
    case IllegalCode::NoSuchIntrinsic:
    case IllegalCode::IntrinsicLoops:
    case IllegalCode::IntrinsicExtent:
    case IllegalCode::IntrinsicOperator:
    case IllegalCode::IntrinsicOperand:
    case IllegalCode::IntrinsicLayout:
    case IllegalCode::IntrinsicUneven:
      return intrinsic_reason(tree, illegal, std::get<Tensorize>(*step));
    case IllegalCode::ScopeAtRoot:
      return fmt::format(
          "{} is computed at root, and only global memory has that lifetime; compute_at a loop",
          stage);
    case IllegalCode::ScopeTooNarrow:
      return fmt::format(
          "the iterations of loop {} of {} run on several {}, which do not share {} memory; "
          "cache_read or cache_write with a wider scope, or leave the loop unbound",
          loop, stage, bound_to_blocks(tree, illegal) ? "blocks" : "threads",
          word_of(static_cast<MemoryScope>(illegal.a)));
    case IllegalCode::BlockInThread:
      return fmt::format(
          "loop {} of {} is bound to blocks inside a loop that is bound to threads; reorder it "
          "outside, or bind it to threads",
          loop, stage);
  }
  return "unknown";
}

// The step to name if the rule concerns the finished trace: the one that annotated or split the
// loop.
int blamed_step(const Trace& trace, const Illegal& illegal) {
  if (illegal.step >= 0) return illegal.step;
  for (size_t k = trace.steps.size(); k-- > 0;) {
    const auto* cache_read = std::get_if<CacheRead>(&trace.steps[k]);
    const auto* cache_write = std::get_if<CacheWrite>(&trace.steps[k]);
    const bool scopes =
        illegal.code == IllegalCode::ScopeAtRoot &&
        ((cache_read != nullptr && cache_read->scope && cache_read->stage.op == illegal.stage.op &&
          illegal.stage.role == StageRole::Read) ||
         (cache_write != nullptr && cache_write->scope &&
          cache_write->stage.op == illegal.stage.op && illegal.stage.role == StageRole::Write));
    const auto* annotate = std::get_if<Annotate>(&trace.steps[k]);
    const auto* split = std::get_if<Split>(&trace.steps[k]);
    const auto* bind = std::get_if<Bind>(&trace.steps[k]);
    const bool annotates =
        (annotate != nullptr && annotate->stage == illegal.stage &&
         annotate->loop == illegal.loop) ||
        (bind != nullptr && bind->stage == illegal.stage && bind->loop == illegal.loop);
    const bool splits = split != nullptr && illegal.code == IllegalCode::BadFactor &&
                        split->stage.op == illegal.stage.op && split->loop == illegal.loop;
    if (annotates || splits || scopes) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

std::string explain(const LoopTree& initial, const Trace& trace, const Illegal& illegal) {
  // The state in which it was rejected: before the rejected step, or after all steps.
  LoopTree tree = initial;
  TreeEditor editor(tree);
  for (const Step& step : trace.steps) {
    if (std::visit([&](const auto& s) { return apply_step(editor, s); }, step)) break;
  }
  const int blamed = blamed_step(trace, illegal);
  if (blamed < 0) return fmt::format("illegal schedule: {}", reason(tree, illegal, nullptr));
  const Step& step = trace.steps[static_cast<size_t>(blamed)];
  return fmt::format("illegal step {} `{}`: {}", blamed + 1, to_text(step),
                     reason(tree, illegal, &step));
}

}  // namespace tilewright::schedule
