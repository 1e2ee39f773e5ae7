// Illegal: why a step does not apply. A small struct, so that rejecting a candidate builds no
// string; `explain` renders it on demand.
#pragma once

#include <cstdint>
#include <string>

#include "base/name.h"
#include "schedule/stage_name.h"

namespace tilewright::schedule {

enum class IllegalCode : uint8_t {
  None,  // legal
  NoSuchStage,
  NoSuchLoop,
  StageExists,
  BadOrdinal,
  StageIsInput,
  StageIsInlined,
  StageIsOutput,
  StageHasReduction,
  StageHasNoReduction,
  StageHasSteps,
  LoopIsAnnotated,
  LoopIsAttachPoint,
  LoopIsSpatial,
  BadFactor,
  TooManyLoops,
  TooManyTerms,
  TooManyStages,
  TooManyReads,
  LoopNamedTwice,
  NotAdjacent,
  MixedKinds,
  TargetIsSelf,
  ReaderOutside,
  InsideFold,
  AlreadyCached,
  NothingReads,
  NotAReader,
  NestedParallel,
  ParallelReduce,
  VectorizeNotInnermost,
  TwoVectorized,
  PartlyFused,
  TailOrder,
  OverlapReduce,
  OverlapParallel,
  PadOutput,
  PadInner,
  PackInput,
  PackOutput,
  PackIndex,
  ReadsTwice,
  PackTiles,
  AlreadyPacked,
  MultipleOutputs,
  RankTooHigh,
  NeedsReassociate,
  NoSuchSplit,
  BadParts,
  BadLevel,
  BadDistance,
  PrefetchUncomputed,
  BoundTwice,
  CodeTooLarge,
  NoSuchIntrinsic,
  IntrinsicLoops,
  IntrinsicExtent,
  IntrinsicOperator,
  IntrinsicOperand,
  IntrinsicLayout,
  IntrinsicUneven,
  ScopeAtRoot,
  ScopeTooNarrow,
  BlockInThread,
};

struct Illegal {
  IllegalCode code = IllegalCode::None;
  int16_t step = -1;  // index in the trace; -1: not caused by a single step
  StageName stage;    // where it occurred
  Name loop;
  int64_t a = 0, b = 0;  // two numbers of the reason, interpreted by `explain`

  explicit operator bool() const { return code != IllegalCode::None; }
  bool operator==(const Illegal&) const = default;
};

}  // namespace tilewright::schedule
