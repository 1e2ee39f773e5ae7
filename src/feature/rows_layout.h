// Where each number of a row stands. rows_table.cc names them in this order; docs/features.md says
// what they are.
#pragma once

#include <array>
#include <cstddef>

namespace tilewright::feature {

// Operations of an expression by sort, as they stand at the beginning of a row.
namespace sort {
enum Index : size_t {
  FloatMad,
  FloatAdd,
  FloatMul,
  FloatDiv,
  FloatCompare,
  FloatMath,
  FloatOther,
  IntMad,
  IntAdd,
  IntMul,
  IntDiv,
  IntCompare,
  IntMath,
  IntOther,
  Bools,
  Selects,
  Count,
};
}  // namespace sort
using OpCounts = std::array<double, sort::Count>;

// Loops of one annotation: how many, the product of their lengths, the innermost length, and where
// they stand as one of eight.
namespace position {
enum Index : size_t {
  None,
  InnerSpatial,
  MiddleSpatial,
  OuterSpatial,
  InnerReduce,
  MiddleReduce,
  OuterReduce,
  Mixed,
  Count,
};
}  // namespace position
inline constexpr size_t kAnnotationColumns = 3 + position::Count;

// What a statement does with one buffer.
namespace access_column {
enum Index : size_t {
  IsRead,
  IsWrite,
  IsReadWrite,
  Bytes,
  UniqueBytes,
  Lines,
  UniqueLines,
  ReuseInLoop,
  ReuseInSequence,
  ReuseNone,
  ReuseIterations,
  ReuseBytes,
  ReuseCount,
  BytesPerReuse,
  UniqueBytesPerReuse,
  LinesPerReuse,
  UniqueLinesPerReuse,
  Stride,
  Packed,
  ContiguousLanes,
  Prefetched,
  Density,
  Count,
};
}  // namespace access_column
inline constexpr size_t kRowAccesses = 5;  // of a row; those with most lines
inline constexpr size_t kCurvePoints = 10;
inline constexpr size_t kMemoryLevels = 3;  // first, second and third cache

namespace column {
enum Index : size_t {
  Arithmetic = 0,
  Vectorize = Arithmetic + sort::Count,
  Unroll = Vectorize + kAnnotationColumns,
  Parallel = Unroll + kAnnotationColumns,
  IsGpu = Parallel + kAnnotationColumns,
  BlockX,
  BlockY,
  BlockZ,
  ThreadX,
  ThreadY,
  ThreadZ,
  VirtualThread,
  Accesses,
  Curve = Accesses + kRowAccesses * access_column::Count,
  BufferBytes = Curve + kCurvePoints,
  BufferBytesTimesOuter,
  BufferOuter,
  BufferInner,
  Iterations,
  Loops,
  BodyInstructions,
  // type
  ElementBytes,
  IsFloat,
  AccumulatorBytes,
  // target
  VectorBytes,
  Registers,
  Threads,
  CacheBytes,  // of each memory level
  LineBytes = CacheBytes + kMemoryLevels,
  // tails
  RaggedShare,
  LanesUsed,
  OverlapRecompute,
  GuardDensity,
  // statement
  IsInit,
  IsUpdate,
  IsCopy,
  IsTensorized,
  IsStreamed,
  // inner kernel
  SumsInFlight,
  UpdatesInRegisters,
  VectorLoadsPerOp,
  BroadcastsPerOp,
  GathersPerOp,
  RegisterPressure,
  CodeCopies,
  InnermostTrips,
  Instructions,
  InstructionsPerThread,
  WorkShare,
  // threads
  Tasks,
  Balance,
  TaskInstructions,
  // memory: of each level
  LevelFootprint,
  LevelTraffic = LevelFootprint + kMemoryLevels,
  LevelTrafficPerInstruction = LevelTraffic + kMemoryLevels,
  LevelTrafficPerThread = LevelTrafficPerInstruction + kMemoryLevels,
  // more than needed
  Recompute = LevelTrafficPerThread + kMemoryLevels,
  InlinedRecompute,
  // program
  Statements,
  ParallelRegions,
  WorkspaceBytes,
  Count,
};
}  // namespace column

}  // namespace tilewright::feature
