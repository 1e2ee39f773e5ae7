// The elements of each buffer that a statement touches, at each level of its nest. Touched at level
// k: accessed while the levels outside k are fixed and those from k inwards run.
//
//   C[i, j] += A[i, k] * B[k, j], loops i < 4, j < 8, k < 2:
//     A at level 0: 4 * 2 elements, at levels 1 and 2: 2, at level 3 (one iteration): 1
//
// Loops outside the allocation of a buffer do not change the accessed elements: the buffer is the
// same memory, reused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "feature/rows_memory.h"
#include "feature/rows_nest.h"
#include "schedule/loop_tree.h"

namespace tilewright::feature {

struct Touch {
  schedule::BufferIndex buffer = schedule::kNone;
  bool reads = false;
  bool writes = false;
  bool packed = false;
  int element_bytes = 4;
  int accesses = 1;        // number of merged accesses, which differ only in constants
  double density = 1;      // share of the iterations whose guard holds
  size_t place = 0;        // number of levels outside the allocation of the buffer
  uint64_t moved = 0;      // bit k: level k changes the address
  int64_t prefetched = 0;  // prefetch distance in iterations
  // Per level.
  double elements[kMaxLevels + 1];  // NOLINT: distinct elements
  double lines[kMaxLevels + 1];     // NOLINT: their cache lines
  int64_t flat[kMaxLevels];         // NOLINT: elements in memory that one iteration steps; 0: none
  int64_t run[kMaxLevels];          // NOLINT: number of contiguous such steps, when flat is 1

  bool is_moved_by(size_t level) const { return (moved >> level & 1) != 0; }
  double bytes(size_t level) const { return elements[level] * element_bytes; }
};

// Holds scratch memory: created once, used for many programs.
class TouchFinder {
 public:
  explicit TouchFinder(int64_t line_bytes);

  void begin(const schedule::LoopTree& tree);
  // Computes the touches of a statement. `nest` is the last nest computed by `nests`.
  void find(const Statement& statement, const Nest& nest, const NestFinder& nests);

  size_t size() const { return size_; }
  const Touch& operator[](size_t k) const { return touches_[k]; }

 private:
  // One step in the growth of an index range: from `before` to `after` values at a level.
  struct Move {
    int64_t coefficient = 0;  // 0: unknown
    int64_t before = 1, after = 1;
    int64_t divisor = 1;  // iterations per change
  };
  struct Ordered {
    int16_t level = 0;
    int16_t dim = 0;
    int32_t move = 0;  // index in moves_
  };
  static constexpr size_t kMaxMoves = 64;

  // The part of a dimension reached so far, from the innermost level outwards.
  struct Dim {
    int64_t reach = 0;   // distance from the first to the last element
    int64_t stride = 0;  // distance of touched elements; 0: there is only one
    int64_t limit = 1;   // elements of the dimension
    double combinations = 1;
    int64_t count = 1;  // number of distinct elements

    int64_t span() const { return std::min(reach, limit - 1) + 1; }
  };

  void add_reads(const schedule::Stage& stage);
  void add_writes(const Statement& statement);
  bool differs_in_constants(const schedule::Access& a, const schedule::Access& b) const;
  Touch& add_touch(schedule::BufferIndex buffer);
  void add_index(const schedule::Access& access, size_t dim);
  void add_irregular(size_t dim);
  void add_quasi_affine(const schedule::Stage& stage, const arith::Affine& index, size_t dim);
  struct Scale {
    int64_t coefficient = 1;
    int64_t divisor = 1;
    int64_t modulus = 0;
  };
  void add_axis(schedule::VarIndex var, int64_t coefficient, size_t dim);
  void add_terminal(schedule::VarIndex var, int64_t coefficient, size_t dim);
  void add_scaled(schedule::VarIndex var, const Scale& scale, size_t dim);
  void add_fused(const schedule::LoopVar& var, int64_t coefficient, size_t dim);
  void add_move(int level, size_t dim, const Move& move);
  void measure(Touch* touch);
  static void set_count(Dim* dim);
  void set_level(Touch* touch, size_t level) const;
  int64_t weight_of(const Touch& touch, int64_t coefficient, size_t dim, int64_t* run);

  int64_t line_bytes_;
  int line_shift_;  // log2 of it
  const schedule::LoopTree* tree_ = nullptr;
  const NestFinder* nests_ = nullptr;
  const Nest* nest_ = nullptr;
  std::vector<Touch> touches_;
  size_t size_ = 0;
  BufferDigits digits_;
  // State of the current touch.
  size_t rank_ = 0;
  size_t place_ = 0;
  size_t move_count_ = 0;
  Move moves_[kMaxMoves];                   // NOLINT
  Ordered order_[kMaxMoves];                // NOLINT
  Dim dims_[schedule::kMaxRank];            // NOLINT
  int64_t row_stride_[schedule::kMaxRank];  // NOLINT
};

}  // namespace tilewright::feature
