// What the axes of a stage are good for, read off its accesses: which one to vectorize, which one
// to repeat in registers, which ones every operand has. The structure of the workload decides, not
// its name: the rules behind default and random schedules. Pure functions.
//
//   C[i, j] = sum over k of A[i, k] * B[k, j]
//     vector  j   B and C are walked element by element, A stands still
//     rows    i   what is loaded of B serves several rows
//     batch   -   no axis occurs in A, B and C alike
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::heuristic {

// How the place of an access in its buffer moves when one axis of the reader takes one step.
struct AccessStride {
  bool depends = false;  // it moves at all
  bool known = true;     // by `stride` elements; else irregularly
  int64_t stride = 0;
  int64_t run =
      0;  // not 0: irregularly, but it stands still for so many steps (a group's channels)

  bool is_contiguous() const { return depends && known && (stride == 1 || stride == -1); }
};

// `axis` is a position in Stage::axes of the reader; row-major buffers as large as they are now.
AccessStride access_stride(const schedule::LoopTree& tree, const schedule::Access& access,
                           size_t axis);
// The same for what the stage writes.
AccessStride store_stride(const schedule::LoopTree& tree, const schedule::Stage& stage,
                          size_t axis);

inline constexpr int kNoAxis = -1;

struct AxisRoles {
  int vector = kNoAxis;         // position in Stage::axes; kNoAxis: vectors do not pay
  bool vector_reduces = false;  // it is a reduce axis: lanes are partial sums
  int rows = kNoAxis;           // spatial; a load along `vector` does not depend on it
  bool vector_outside = false;  // what `vector` walks is best kept in cache while the rest passes
  int across = kNoAxis;         // without a reduction: walked with gaps by vectors, but contiguous
                                // by this axis: tiles of both keep cache lines in use
  std::vector<int> batch;       // spatial axes that every access and the store depend on
  int64_t vector_run = 0;       // not 0: a tile of `vector` must divide this, see AccessStride::run
  int element_bytes = 4;        // of a lane: the widest element that takes part

  bool has_vector() const { return vector != kNoAxis; }
};

// `may_pack`: reads that do not depend on all spatial axes may be copied into another order first,
// so that walking them with gaps costs nothing.
AxisRoles axis_roles(const schedule::LoopTree& tree, schedule::StageIndex stage,
                     const Target& target, bool may_pack);

// Values that the loops of a stage run through, all together.
double iterations_of(const schedule::LoopTree& tree, const schedule::Stage& stage);

// A stage whose operands are used again and again: what tiles are for.
bool is_heavy(const schedule::LoopTree& tree, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
