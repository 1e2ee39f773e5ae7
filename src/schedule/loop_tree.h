// LoopTree: the meaning of a trace, as flat arrays without pointers, built by `apply`. Features,
// validity checks and lowering read it; they never interpret steps.
//
// Variables. Each stage iterates over the axes of its operator. A variable is such an axis, a part
// of a split variable, or a fusion of several:
//
//   split i by [4, 8]:  i = i.0 * 32 + i.1 * 8 + i.2      strides of the parts: 32, 8, 1
//   fuse a, b:          a = (a,b) / extent(b),  b = (a,b) mod extent(b)
//
// A variable that is neither split nor fused into another is a loop; `Stage::loops` lists the loops
// from the outside in. Index forms are affine over terminal variables: loops, and variables that
// were fused (which have a value wherever all loops of their fusion are outside).
//
// Numbers. Everything that depends only on extents and factors (extents, strides, regions) is
// separate from structure: `compute_numbers` recomputes it, so that a change of tile sizes costs
// only that.
//
// Regions. Per access and dimension: a base (affine over the variables outside the allocation of
// the buffer), an extent, a stride, and whether the box is exact or a hull. A producer attached
// under a loop computes the hull of the elements that its readers touch in one iteration.
//
// A LoopTree is a value. It holds a pointer to the Task's Dag, which must outlive it. All vectors
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
#include "base/thread_axis.h"
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

// Large enough for a blocked 3-D convolution (rank 9, 14 axes) tiled for a GPU (37 loops).
inline constexpr size_t kMaxLoops = 40;                 // of a stage
inline constexpr size_t kMaxAxes = 16;                  // of a stage, reduce axes included
inline constexpr size_t kMaxRank = te::kMaxTensorRank;  // of a buffer
inline constexpr size_t kMaxStages = 255;

enum class VarOrigin : uint8_t { Axis, Part, Fused };
enum class IterKind : uint8_t { Spatial, Reduce };
enum class Annotation : uint8_t { None, Parallel, Vectorize, Unroll, Stream };
using tilewright::ThreadAxis;

// The treatment of the remainder of a split that does not divide.
//   Peel     a copy of the code for the remaining iterations, without guards
//   Mask     like Peel, but a vectorized loop runs whole vectors with the surplus lanes masked
//   Overlap  the last tile starts earlier and computes some elements twice
//   Pad      the last tile is computed completely; the stage's buffer has room for the surplus
enum class Tail : uint8_t { Peel, Mask, Overlap, Pad };

struct LoopVar {
  // Structure.
  Name name;
  StageIndex stage = kNone;
  VarOrigin origin = VarOrigin::Axis;
  IterKind kind = IterKind::Spatial;
  Annotation annotation = Annotation::None;
  ThreadAxis bound = ThreadAxis::None;  // the GPU index that runs its iterations
  Tail tail = Tail::Peel;               // of the split that created its parts
  uint8_t part = 0;                     // Part: index, 0 is outermost
  uint8_t parts = 0;                    // if split: number of parts
  VarIndex first_part = kNone;          // if split: the first of `parts` consecutive variables
  VarIndex parent = kNone;              // Part: the variable that was split
  VarIndex first_member = kNone;        // Fused: its outermost member
  VarIndex fused_into = kNone;          // if fused into another: that one
  VarIndex next_member = kNone;         // if fused into another: the next member inwards
  int16_t step = kNone;                 // Part: the step with the factors
  int16_t position = -1;                // index in Stage::loops; -1: not a loop
  // If split: rfactor removed a part, so the parts have no order; a remainder is guarded per
  // element.
  bool unordered = false;

  // Numbers.
  int64_t extent = 1;     // number of values; the maximum if tails differ
  int64_t stride = 1;     // Part: factor in the value of the parent
  int64_t divisor = 1;    // if fused into another: its value is fusion / divisor mod extent
  int64_t remainder = 0;  // if split: extent mod (product of the factors)
  // While lowering a branch of a tail: the number of outer parts with a known value, and the number
  // of values left for the inner parts.
  int64_t rest = 0;
  int64_t valid = 0;  // padded tile: number of values in `rest` that are elements; 0: all
  int64_t shift = 0;  // overlapping tile: offset of its value
  uint8_t resolved = 0;
  bool ragged = false;  // has fewer values in some iterations of the outer loops

  bool is_split() const { return parts > 0; }
  bool is_loop() const { return parts == 0 && fused_into == kNone; }
  // Several threads of a CPU or a GPU run its iterations.
  bool is_parallel() const {
    return annotation == Annotation::Parallel || bound != ThreadAxis::None;
  }
};

// The tail of a split variable. A masked reduction counts as padded: the surplus folds the
// identity.
inline Tail tail_of(const LoopVar& var) {
  return var.tail == Tail::Mask && var.kind == IterKind::Reduce ? Tail::Pad : var.tail;
}

enum class StageKind : uint8_t {
  Input,    // a placeholder: no loops
  Compute,  // the body of its operator, reduced over all its reduce axes
  Copy,     // its only read, elementwise
  Partial,  // rfactor: the body, reduced over all reduce axes except the factored loop
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
  int16_t place_step = kNone;        // step that placed it, for explanations
  BufferIndex first_buffer = kNone;  // one per output of the operator, consecutive
  uint8_t buffers = 1;
  int32_t instructions = 2;                 // per element, including inlined bodies; an estimate
  bool streams = false;                     // non-temporal stores: its results are not read soon
  uint16_t first_access = 0, accesses = 0;  // its reads, in LoopTree::accesses
  InlineVector<VarIndex, kMaxRank> dims{};  // the variable of each dimension
  InlineVector<VarIndex, kMaxAxes>
      axes{};  // of the operator (Combine: of the fold): spatial, then reduce
  InlineVector<VarIndex, kMaxLoops> loops{};  // outermost first

  // Numbers: the origin and extent of its iteration space.
  InlineVector<arith::Affine, kMaxRank> origin{};  // At: first element per dimension; else 0
  InlineVector<int64_t, kMaxRank> origin_slack{};  // possible deviation of the origin in a tail
  bool frozen = false;  // while lowering: already emitted, so its numbers are fixed
  // At: bit d: dimension d is computed completely, whatever its readers need.
  uint16_t whole_dims = 0;

  // False for an input, and for a stage whose body is part of its readers.
  bool has_loops() const { return kind != StageKind::Input && place != Attachment::Inlined; }
};

struct Buffer {
  StageIndex stage = kNone;  // the writer
  uint8_t output = 0;        // index among the outputs of its operator
  uint8_t rank = 0;
  ir::Scalar element = ir::Scalar::F32;
  te::TensorId tensor = 0;   // the tensor whose values it holds
  bool is_argument = false;  // an input or output of the workload
  bool is_constant = false;  // known at compile time
  // The memory that a step selected; empty: default_scope. Always empty for arguments.
  std::optional<MemoryScope> scope{};
  StageIndex packed_for = kNone;  // packed for this reader
  int16_t pack_step = kNone;
  // For an argument that is a part of a larger row-major array: the extents of that array;
  // otherwise empty.
  InlineVector<int64_t, kMaxRank> within{};
  InlineVector<int64_t, kMaxRank> extent{};  // numbers: logical shape of its content

  // The extents that determine its strides, unless it is packed.
  const InlineVector<int64_t, kMaxRank>& storage_shape() const {
    return within.empty() ? extent : within;
  }
};

// One index of one access: an affine form over the axes of the reader (te/access.h). If it is only
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
  bool guarded = false;  // clipped: under a condition that keeps it inside the tensor
  // Stage of the operator whose inlined body reads; kNone: the reader itself.
  StageIndex via = kNone;
  uint16_t first_dim = 0;  // index in LoopTree::dims and LoopTree::regions
};

// A prefetch, in each iteration of a loop, of elements of a buffer that a stage reads later.
struct PrefetchRequest {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  BufferIndex buffer = kNone;
  int64_t distance = 1;  // iterations of the loop; 0: a share of the next tile (next_tile.h)
  int16_t step = kNone;
};

// The outermost loop of a tensor intrinsic, which replaces that loop and all loops inside it.
struct TensorizedLoop {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  Name intrinsic;
  int16_t step = kNone;
};

// What a loop is to the tensor intrinsic that replaces it: the axes of an intrinsic are rows, lanes
// and factors, from the outside in (schedule/intrinsics.h).
enum class IntrinsicAxis : uint8_t { None, Row, Lane, Factor };

// The elements of one dimension that an access touches while the outer variables are fixed.
struct RegionDim {
  bool whole = false;    // data-dependent or irregular index: any element of the dimension
  bool exact = false;    // every base + stride*t below the extent is touched; false: a hull
  bool ragged = false;   // fewer elements in some iterations of the outer loops
  bool clipped = false;  // the guard may cut it off at the edge of the tensor
  int64_t extent = 1;    // from the first to the last element
  int64_t slack = 0;     // in a tail, its start may deviate by this many elements
  int64_t stride = 1;
  double guard_density = 1;  // clipped: share of the indices for which the guard holds
  arith::Affine base{};      // over outer terminal variables
};

struct LoopTree {
  const te::Dag* dag = nullptr;
  // The intrinsics that tensorize may name; outlives the tree.
  IntrinsicTable intrinsics = all_intrinsics();
  bool reassociate = true;  // float permission: folds may happen in any order
  bool lowering = false;    // numbers of branches are being computed: Stage::whole_dims is fixed
  std::vector<LoopVar> vars;
  std::vector<Stage> stages;
  std::vector<StageIndex> order;  // all stages, producers before readers
  std::vector<Buffer> buffers;
  std::vector<Access> accesses;
  std::vector<AccessDim> dims;
  std::vector<te::Quotient> quotients;
  std::vector<PrefetchRequest> prefetches;
  std::vector<TensorizedLoop> tensorized;
  std::vector<RegionDim> regions;  // numbers; parallel to dims: at the allocation of the buffer
  // Numbers; parallel to dims: the index over terminal variables, if it is affine.
  std::vector<arith::Affine> forms;

  const LoopVar& var(VarIndex k) const { return vars[static_cast<size_t>(k)]; }
  LoopVar& var(VarIndex k) { return vars[static_cast<size_t>(k)]; }
  const Stage& stage(StageIndex k) const { return stages[static_cast<size_t>(k)]; }
  Stage& stage(StageIndex k) { return stages[static_cast<size_t>(k)]; }
  const Buffer& buffer(BufferIndex k) const { return buffers[static_cast<size_t>(k)]; }
  Buffer& buffer(BufferIndex k) { return buffers[static_cast<size_t>(k)]; }

  bool is_output(StageIndex stage) const;  // one of its buffers is an argument
  // The reads of a stage. Valid until accesses are added.
  std::span<const Access> reads_of(const Stage& reader) const {
    return std::span(accesses).subspan(reader.first_access, reader.accesses);
  }
  std::span<Access> reads_of(const Stage& reader) {
    return std::span(accesses).subspan(reader.first_access, reader.accesses);
  }

  StageIndex find_stage(StageName name) const;                 // kNone if there is none
  VarIndex find_loop(StageIndex stage, Name name) const;       // kNone if there is none
  const TensorizedLoop* find_tensorized(VarIndex loop) const;  // null if it is not tensorized
  // The tensorized loop that the loop at `position` of a stage is, or is inside of; null if none.
  const TensorizedLoop* tensorized_around(const Stage& stage, size_t position) const;
  IntrinsicAxis intrinsic_axis(const Stage& stage, size_t position) const;
  const TensorIntrinsic& intrinsic_of(const TensorizedLoop& loop) const;
  std::string to_string() const;  // stages with their loops, for display
};

// The memory of a buffer. Unless a step selects another, arguments and buffers at root are global,
// and buffers attached to a loop are local to the thread that runs it.
inline MemoryScope default_scope(const Stage& writer) {
  return writer.place == Attachment::At ? MemoryScope::Local : MemoryScope::Global;
}
// The memory of the separate accumulators of a reduction, which exist only in lowered code.
inline constexpr MemoryScope kAccumulatorScope = MemoryScope::Local;
inline MemoryScope memory_scope(const LoopTree& tree, BufferIndex buffer) {
  return tree.buffer(buffer).scope.value_or(default_scope(tree.stage(tree.buffer(buffer).stage)));
}

// The layout of a buffer: by the loops of the reader that it is packed for; otherwise row-major,
// within the array that it is a part of.
layout::Layout layout_of(const LoopTree& tree, BufferIndex buffer);

// Estimated number of instructions of the unrolled and vectorized bodies. `apply` rejects programs
// above kMaxInstructions, because compiling them would take seconds.
inline constexpr int64_t kMaxInstructions = 16384;
int64_t estimated_instructions(const LoopTree& tree, int vector_bytes);

}  // namespace tilewright::schedule
