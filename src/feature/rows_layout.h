// The index of each number in a feature row. rows_table.cc names them in this order;
// docs/features.md describes them.
#pragma once

#include <array>
#include <cstddef>

namespace tilewright::feature {

// Kinds of operations of an expression, in the order of the first columns.
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

// Loops with one annotation: their number, the product of their extents, the innermost extent, and
// their position as one of eight.
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

// The accesses of a statement to one buffer.
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
inline constexpr size_t kRowAccesses = 5;  // per row: those with the most cache lines
inline constexpr size_t kCurvePoints = 10;
inline constexpr size_t kMemoryLevels = 3;  // L1, L2, L3

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
  CacheBytes,  // one per memory level
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
  // memory: one per level
  LevelFootprint,
  LevelTraffic = LevelFootprint + kMemoryLevels,
  LevelTrafficPerInstruction = LevelTraffic + kMemoryLevels,
  LevelTrafficPerThread = LevelTrafficPerInstruction + kMemoryLevels,
  // recomputation
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
