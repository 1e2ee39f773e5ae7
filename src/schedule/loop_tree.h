// LoopTree: the meaning of a trace. Flat arrays without pointers, built by `apply`; numeric
// features, validity and lowering read it, and nobody re-interprets steps.
//
// Variables. Each stage iterates over the axes of its operator. A variable is such an axis, a part
// of a split variable, or the fusion of several:
//
//   split i by [4, 8]:  i = i.0 * 32 + i.1 * 8 + i.2      parts weigh (stride) 32, 8, 1
//   fuse a, b:          a = (a,b) / extent(b),  b = (a,b) mod extent(b)
//
// A variable that is neither split nor fused away is a loop; `Stage::loops` lists them from the
// outside in. Index forms are affine over terminal variables: loops, and variables that were fused
// away (which have a value wherever all loops of their fusion are outside).
//
// Numbers. What follows from extents and factors alone (extents, strides, regions) is kept apart
// from structure: `compute_numbers` makes it anew, so a change of tile sizes costs no more.
//
// Regions. For each access, per dimension: base (affine over the variables outside the place where
// the buffer lives), extent, stride, and whether the box is exact or a hull. Producers attached
// under a loop compute the hull of what their readers touch in one iteration of it.
//
// A LoopTree is a value; it holds a pointer to the Task's Dag, which must outlive it. All vectors
// keep their capacity across `apply`, so a reused tree allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arith/affine.h"
#include "base/hash.h"
#include "base/inline_vector.h"
#include "layout/layout.h"
#include "schedule/intrinsics.h"
#include "schedule/stage_name.h"
#include "target/capability.h"
#include "task/workload.h"

namespace tilewright::schedule {

using StageIndex = int16_t;
using VarIndex = int16_t;
using BufferIndex = int16_t;
inline constexpr int16_t kNone = -1;

// Room for a blocked convolution of three dimensions (rank 9, 14 axes) in tiles of a GPU (37
// loops).
inline constexpr size_t kMaxLoops = 48;  // of a stage
inline constexpr size_t kMaxAxes = 16;   // of a stage, reduce axes included
inline constexpr size_t kMaxRank = 10;   // of a buffer
inline constexpr size_t kMaxStages = 255;

enum class VarOrigin : uint8_t { Axis, Part, Fused };
enum class IterKind : uint8_t { Spatial, Reduce };
enum class Annotation : uint8_t { None, Parallel, Vectorize, Unroll, Stream };
// What of a GPU a loop is bound to.
enum class ThreadAxis : uint8_t {
  None,
  BlockX,
  BlockY,
  BlockZ,
  ThreadX,
  ThreadY,
  ThreadZ,
  VirtualThread,
};

// How the remainder of a split that does not divide is treated.
//   Peel     a copy of the code for what is left, no guard
//   Mask     as peel, and a vectorized loop runs whole vectors with the surplus lanes masked
//   Overlap  the last tile begins earlier and computes some elements a second time
//   Pad      the last tile is computed whole; the stage's own buffer has room for the surplus
enum class Tail : uint8_t { Peel, Mask, Overlap, Pad };

struct LoopVar {
  // Structure.
  Name name;
  StageIndex stage = kNone;
  VarOrigin origin = VarOrigin::Axis;
  IterKind kind = IterKind::Spatial;
  Annotation annotation = Annotation::None;
  ThreadAxis bound = ThreadAxis::None;
  Tail tail = Tail::Peel;         // of the split that made this variable's parts
  uint8_t part = 0;               // Part: which, 0 outermost
  uint8_t parts = 0;              // when split: how many
  VarIndex first_part = kNone;    // when split: the first of `parts` consecutive variables
  VarIndex parent = kNone;        // Part: the variable that was split
  VarIndex first_member = kNone;  // Fused: the outermost of its members
  VarIndex fused_into = kNone;    // when fused away
  VarIndex next_member = kNone;   // when fused away: the next one inwards, of the same fusion
  int16_t step = kNone;           // Part: the split of the trace that gives the factors
  int16_t position = -1;          // in Stage::loops, -1 when not a loop
  bool unordered = false;         // when split: rfactor took a part out, so no part comes first; a
                                  // remainder is guarded element by element

  // Numbers.
  int64_t extent = 1;     // values it takes; the most of them where tails differ
  int64_t stride = 1;     // Part: weight in the parent
  int64_t divisor = 1;    // fused away: its value is fusion / divisor mod extent
  int64_t remainder = 0;  // when split: extent mod (product of the factors)
  // While lowering a branch of a tail: how many outer parts have a value there, and how many values
  // that leaves to the parts further in.
  int64_t rest = 0;
  int64_t valid = 0;  // how many of `rest` are elements, when the tile is padded; 0: all
  int64_t shift = 0;  // what its value is off by, when the tile overlaps the one before
  uint8_t resolved = 0;
  bool ragged = false;  // it takes fewer values in some iterations of the loops outside

  bool is_split() const { return parts > 0; }
  bool is_loop() const { return parts == 0 && fused_into == kNone; }
};

// How the remainder of a split variable is treated: a masked reduction is a padded one, whose
// surplus folds the identity.
inline Tail tail_of(const LoopVar& var) {
  return var.tail == Tail::Mask && var.kind == IterKind::Reduce ? Tail::Pad : var.tail;
}

enum class StageKind : uint8_t {
  Input,    // a placeholder: no loops
  Compute,  // the body of its operator, reduced over all its reduce axes
  Copy,     // its one read, element by element
  Partial,  // rfactor: the body, reduced over all but the factored loop
  Combine,  // rfactor: folds the partial results
};

enum class Attachment : uint8_t { Root, Inlined, At };

struct Stage {
  // Structure.
  StageName name;
  te::OpId op = 0;
  StageKind kind = StageKind::Compute;
  Attachment place = Attachment::Root;
  StageIndex at_stage = kNone;
  VarIndex at_loop = kNone;
  int16_t place_step = kNone;        // the step that placed it, for explanations
  BufferIndex first_buffer = kNone;  // one per output of the operator, consecutive
  uint8_t buffers = 1;
  int32_t instructions = 2;                 // of one element, inlined bodies included, an estimate
  bool streams = false;                     // what it stores is not read soon: past the caches
  uint16_t first_access = 0, accesses = 0;  // what it reads, in LoopTree::accesses
  InlineVector<VarIndex, kMaxRank> dims{};  // the variable that indexes each dimension
  InlineVector<VarIndex, kMaxAxes>
      axes{};  // of the operator (Combine: of the fold): spatial, reduce
  InlineVector<VarIndex, kMaxLoops> loops{};  // outside in

  // Numbers: where its own iteration begins and what it covers.
  InlineVector<arith::Affine, kMaxRank> origin{};  // At: first element per dimension; else 0
  InlineVector<int64_t, kMaxRank> origin_slack{};  // by how much it may be off in a tail
  bool frozen = false;      // while lowering: it has been written, so its numbers stay as they are
  uint16_t whole_dims = 0;  // At: bit d: dimension d is computed whole, whatever its readers need
};

struct Buffer {
  StageIndex stage = kNone;  // the writer
  uint8_t output = 0;        // of its operator
  uint8_t rank = 0;
  ir::Scalar element = ir::Scalar::F32;
  te::TensorId tensor = 0;   // the tensor whose values it holds
  bool is_argument = false;  // an input or output of the workload
  bool is_constant = false;  // known at compile time
  // The memory that a step chose for it; nothing: default_scope. Arguments have none.
  std::optional<MemoryScope> scope{};
  StageIndex packed_for = kNone;  // laid out for this reader
  int16_t pack_step = kNone;
  // An argument that is a part of a larger row-major array: the extents of that; else empty.
  InlineVector<int64_t, kMaxRank> within{};
  InlineVector<int64_t, kMaxRank> extent{};  // numbers: logical shape of what it holds

  // The extents by which its elements lie, unless it is packed.
  const InlineVector<int64_t, kMaxRank>& storage_shape() const {
    return within.empty() ? extent : within;
  }
};

// One index of one access: an affine form over the reader's axis numbers (te/access.h); when only
// quasi-affine, also over LoopTree::quotients, numbered from te::kFirstQuotient.
struct AccessDim {
  bool affine = false;
  bool quasi_affine = false;
  arith::Affine index{};
};

struct Access {
  StageIndex stage = kNone;  // the reader
  BufferIndex buffer = kNone;
  uint8_t rank = 0;
  bool guarded = false;    // clipped: behind a condition that keeps it inside the tensor
  StageIndex via = kNone;  // the operator whose inlined body reads, by its stage; kNone: the own
  uint16_t first_dim = 0;  // in LoopTree::dims and LoopTree::regions
};

// What a stage will read of a buffer `distance` iterations of a loop later is asked for.
struct PrefetchRequest {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  BufferIndex buffer = kNone;
  int64_t distance = 1;
  int16_t step = kNone;
};

// The outermost of the loops of a tensor intrinsic, which takes its place and that of all inside
// it.
struct TensorizedLoop {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  Name intrinsic;
  int16_t step = kNone;
};

// What an access touches of one dimension while the variables outside hold still.
struct RegionDim {
  bool whole = false;    // a data-dependent or irregular index: any element of the dimension
  bool exact = false;    // every base + stride*t below the extent is touched; else a hull
  bool ragged = false;   // fewer elements in some iterations of the loops outside
  bool clipped = false;  // the guard may cut it at the tensor's edge
  int64_t extent = 1;    // elements from first to last
  int64_t slack = 0;     // in a tail it may begin so many elements earlier or later
  int64_t stride = 1;
  double guard_density = 1;  // clipped: the share of the indices that the guard lets through
  arith::Affine base{};      // over terminal variables outside
};

struct LoopTree {
  const te::Dag* dag = nullptr;
  IntrinsicTable intrinsics = all_intrinsics();  // what a tensorize may name; outlives the tree
  bool reassociate = true;  // a permission of the workload: folds may happen in any order
  bool lowering = false;    // numbers of branches are made: Stage::whole_dims stays as it is
  std::vector<LoopVar> vars;
  std::vector<Stage> stages;
  std::vector<StageIndex> order;  // all stages, producers before their readers
  std::vector<Buffer> buffers;
  std::vector<Access> accesses;
  std::vector<AccessDim> dims;
  std::vector<te::Quotient> quotients;
  std::vector<PrefetchRequest> prefetches;
  std::vector<TensorizedLoop> tensorized;
  std::vector<RegionDim> regions;  // numbers; parallel to dims: at the place where the buffer lives
  // Numbers; parallel to dims: the index over terminal variables, where it is affine.
  std::vector<arith::Affine> forms;

  const LoopVar& var(VarIndex k) const { return vars[static_cast<size_t>(k)]; }
  LoopVar& var(VarIndex k) { return vars[static_cast<size_t>(k)]; }
  const Stage& stage(StageIndex k) const { return stages[static_cast<size_t>(k)]; }
  Stage& stage(StageIndex k) { return stages[static_cast<size_t>(k)]; }
  const Buffer& buffer(BufferIndex k) const { return buffers[static_cast<size_t>(k)]; }
  Buffer& buffer(BufferIndex k) { return buffers[static_cast<size_t>(k)]; }

  bool is_output(StageIndex stage) const;  // one of its buffers is an argument
  // What a stage reads. Valid until accesses are added.
  std::span<const Access> reads_of(const Stage& reader) const {
    return std::span(accesses).subspan(reader.first_access, reader.accesses);
  }
  std::span<Access> reads_of(const Stage& reader) {
    return std::span(accesses).subspan(reader.first_access, reader.accesses);
  }

  StageIndex find_stage(StageName name) const;                 // kNone when absent
  VarIndex find_loop(StageIndex stage, Name name) const;       // kNone when absent
  const TensorizedLoop* find_tensorized(VarIndex loop) const;  // null when it is not
  const TensorIntrinsic& intrinsic_of(const TensorizedLoop& loop) const;
  std::string to_string() const;  // stages with their loops, for people
};

// The place of a loop among all loops around a point: is variable `var` (terminal) fixed while one
// iteration of loop `at` of stage `at_stage` runs? Partly: some loops of its fusion are outside.
enum class Outside : uint8_t { No, Yes, Partly };
Outside is_outside(const LoopTree& tree, VarIndex var, StageIndex at_stage, VarIndex at);

// Is `stage` computed within one iteration of loop `at` of `at_stage` (or part of that stage)?
bool is_within(const LoopTree& tree, StageIndex stage, StageIndex at_stage, VarIndex at);

// The region of an access while the loops outside loop `at` of stage `at_stage` hold still
// (kNone: all of it).
void region_of(const LoopTree& tree, const Access& access, StageIndex at_stage, VarIndex at,
               RegionDim* dims);

// The memory that a buffer lives in. Unless a step says otherwise, arguments and what is computed
// at root are global, and what is attached to a loop is local to the thread that runs it.
inline MemoryScope default_scope(const Stage& writer) {
  return writer.place == Attachment::At ? MemoryScope::Local : MemoryScope::Global;
}
inline MemoryScope memory_scope(const LoopTree& tree, BufferIndex buffer) {
  return tree.buffer(buffer).scope.value_or(default_scope(tree.stage(tree.buffer(buffer).stage)));
}

// The layout of a buffer, from the loops of the reader it is packed for; row-major otherwise, in
// the array that it is a part of.
layout::Layout layout_of(const LoopTree& tree, BufferIndex buffer);

// Instructions that the unrolled and vectorized bodies come to, an estimate before lowering; of
// programs beyond kMaxInstructions `apply` makes no tree: compiling them would take seconds.
inline constexpr int64_t kMaxInstructions = 16384;
int64_t estimated_instructions(const LoopTree& tree, int vector_bytes);

}  // namespace tilewright::schedule
