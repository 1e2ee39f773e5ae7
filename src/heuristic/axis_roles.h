// Axis roles: determines from the accesses of a stage which axis to vectorize, which to repeat in
// registers, and which are batch axes. The rules look at the structure of the workload, not at its
// name. The default schedule and the space use them. Pure functions.
//
//   C[i, j] = sum over k of A[i, k] * B[k, j]
//     vector  j   B and C are contiguous along it, A does not depend on it
//     rows    i   a load of B serves several rows
//     batch   -   no axis indexes A, B and C
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::heuristic {

// How the address of an access changes with one step of an axis of the reader.
struct AccessStride {
  bool depends = false;  // the address changes
  bool known = true;     // by `stride` elements; false: irregularly
  int64_t stride = 0;
  int64_t run =
      0;  // if not 0: irregular, but constant for this many steps (the channels of a group)

  bool is_contiguous() const { return depends && known && (stride == 1 || stride == -1); }
};

// `axis` is an index in Stage::axes of the reader. Buffers are row-major, with their current
// extents.
AccessStride access_stride(const schedule::LoopTree& tree, const schedule::Access& access,
                           size_t axis);
// The same for the store of the stage.
AccessStride store_stride(const schedule::LoopTree& tree, const schedule::Stage& stage,
                          size_t axis);

// The number of steps of an axis after which the address is the same again, at most
// kMaxPhases: 1 if it does not depend on the axis. 0: it does not repeat.
inline constexpr int64_t kMaxPhases = 4;
int64_t phases_of(const schedule::LoopTree& tree, const schedule::Access& access, size_t axis);

// `axis` as above.
inline bool is_reduced(const schedule::LoopTree& tree, const schedule::Stage& stage, size_t axis) {
  return tree.var(stage.axes[axis]).kind == schedule::IterKind::Reduce;
}

inline constexpr int kNoAxis = -1;

struct AxisRoles {
  int vector = kNoAxis;         // index in Stage::axes; kNoAxis: vectorization does not pay
  bool vector_reduces = false;  // it is a reduce axis: lanes hold partial results
  int rows = kNoAxis;           // spatial; a load along `vector` does not depend on it
  int columns = kNoAxis;        // with lanes of partial results: another such axis
  // Keep the data along `vector` in cache while the other data streams through.
  bool vector_outside = false;
  // Without a reduction: an axis that is contiguous where `vector` has gaps; tiles of both use
  // whole cache lines.
  int across = kNoAxis;
  std::vector<int> batch;  // spatial axes that all accesses and the store depend on
  int64_t vector_run = 0;  // if not 0: a tile of `vector` must divide this, see AccessStride::run
  int element_bytes = 4;   // per lane: the widest element involved

  bool has_vector() const { return vector != kNoAxis; }
};

// `may_pack`: reads that do not depend on all spatial axes may be copied into another order first,
// so that gaps cost nothing.
AxisRoles axis_roles(const schedule::LoopTree& tree, schedule::StageIndex stage,
                     const Target& target, bool may_pack);

// Of the whole operand.
double elements_of(const schedule::LoopTree& tree, const schedule::Access& access);

// Product of the extents of all loops of a stage.
double iterations_of(const schedule::LoopTree& tree, const schedule::Stage& stage);

// True for a stage that reuses its operands, so that tiling pays.
bool is_heavy(const schedule::LoopTree& tree, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
