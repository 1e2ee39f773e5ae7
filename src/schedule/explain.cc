#include <fmt/format.h>

#include <string>

#include "schedule/apply.h"

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
    if (stage.place == Place::Inlined) continue;
    for (int k = 0; k < stage.accesses; ++k) {
      const Access& access = tree.accesses[static_cast<size_t>(stage.first_access + k)];
      if (tree.buffer(access.buffer).stage != index) continue;
      out += (out.empty() ? "" : ", ") + stage.name.text();
      break;
    }
  }
  return out.empty() ? "nobody" : out;
}

// Why, and what would be legal. `tree` is the state before the step.
std::string reason(const LoopTree& tree, const Illegal& illegal) {
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
      return fmt::format("{} is a reduction; only stages without one can be inlined", stage);
    case IllegalCode::StageHasNoReduction:
      return fmt::format("{} is not a reduction that has yet to be factored", stage);
    case IllegalCode::StageHasSteps:
      return fmt::format(
          "{} has been scheduled already; this step comes before its splits, "
          "reorders and placement",
          stage);
    case IllegalCode::LoopIsAnnotated:
      return fmt::format("loop {} of {} is annotated already; annotate after this step", loop,
                         stage);
    case IllegalCode::LoopIsAttachPoint:
      return fmt::format("a stage is computed at loop {} of {}; compute_at comes after this step",
                         loop, stage);
    case IllegalCode::LoopIsSpatial:
      return fmt::format("loop {} of {} is not a reduce loop", loop, stage);
    case IllegalCode::BadFactor:
      return fmt::format(
          "factor {} for loop {} of {}: factors are whole numbers from 1 to 2^31, at "
          "least one of them, and must divide ({} left over) where the loop is "
          "factored",
          illegal.a, loop, stage, illegal.b);
    case IllegalCode::TooManyLoops:
      return fmt::format("{} would have more than {} loops", stage, illegal.a);
    case IllegalCode::TooManyTerms:
      return fmt::format("an index of {} depends on more than {} loops; split less", stage,
                         arith::Affine::kMaxTerms);
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
    case IllegalCode::AlreadyCached:
      return fmt::format("{} is a copy already, or computes through one", stage);
    case IllegalCode::NothingReads:
      return fmt::format("readers of {} are to be named; they are {}", stage,
                         readers_of(tree, illegal.stage));
    case IllegalCode::NotAReader:
      return fmt::format("{} does not read it", stage);
    case IllegalCode::NestedParallel:
      return fmt::format("loop {} of {} is parallel inside a parallel loop; one level is allowed",
                         loop, stage);
    case IllegalCode::ParallelReduce:
      return fmt::format("loop {} of {} is a reduction and cannot be parallel; rfactor it first",
                         loop, stage);
    case IllegalCode::VectoriseNotInnermost:
      return fmt::format(
          "loop {} of {} is vectorised: only unrolled loops and no attached stage "
          "may be inside it",
          loop, stage);
    case IllegalCode::TwoVectorised:
      return fmt::format("{} has a second vectorised loop {}", stage, loop);
    case IllegalCode::VectorTooLong:
      return fmt::format("loop {} of {} has {} iterations; a vectorised loop has up to {}", loop,
                         stage, illegal.a, illegal.b);
    case IllegalCode::PartlyFused:
      return fmt::format(
          "variable {} of {} was fused and split, and only part of it is known at "
          "that loop; attach outside or inside all loops it is rebuilt from",
          loop, stage);
    case IllegalCode::TailOrder:
      return fmt::format(
          "part {} of {} runs outside a part that encloses it, but its split leaves "
          "{} of {} over (or may, in a tail of its reader); keep the parts in order "
          "or take a factor that divides",
          loop, stage, illegal.b, illegal.a);
    case IllegalCode::PackInput:
      return fmt::format(
          "{} is an input that changes from call to call; cache_read it and pack the "
          "copy, or declare it constant",
          stage);
    case IllegalCode::PackOutput:
      return fmt::format("{} is an output, whose layout the caller decides", stage);
    case IllegalCode::PackIndex:
      return fmt::format(
          "{} does not read each dimension by one axis of its own (dimension {}); "
          "only such operands can be packed",
          stage, illegal.a);
    case IllegalCode::PackTiles:
      return fmt::format(
          "the loops of {} walk a packed dimension in steps of {} and of {}; steps must divide one "
          "another",
          stage, illegal.a, illegal.b);
    case IllegalCode::AlreadyPacked:
      return fmt::format("{} is packed already", stage);
    case IllegalCode::MultipleOutputs:
      return fmt::format("{} computes several tensors at once", stage);
    case IllegalCode::RankTooHigh:
      return fmt::format("{} would have more than {} dimensions", stage, illegal.a);
    case IllegalCode::CodeTooLarge:
      return fmt::format("the unrolled code of {} comes to about {} instructions; {} are allowed",
                         stage.empty() ? "the program" : stage, illegal.a, illegal.b);
  }
  return "unknown";
}

}  // namespace

std::string explain(const LoopTree& initial, const Trace& trace, const Illegal& illegal) {
  // The state in which the step was refused: the trace up to it.
  Trace before = trace;
  if (illegal.step >= 0) before.steps.resize(static_cast<size_t>(illegal.step));
  LoopTree tree = initial;
  TreeEditor editor(tree);
  for (const Step& step : before.steps) {
    const Illegal earlier = std::visit([&](const auto& s) { return apply_step(editor, s); }, step);
    if (earlier) break;
  }
  if (illegal.step < 0 || static_cast<size_t>(illegal.step) >= trace.steps.size()) {
    return fmt::format("illegal schedule: {}", reason(tree, illegal));
  }
  return fmt::format("illegal step {} `{}`: {}", illegal.step + 1,
                     to_text(trace.steps[static_cast<size_t>(illegal.step)]),
                     reason(tree, illegal));
}

}  // namespace tilewright::schedule
