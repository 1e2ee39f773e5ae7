// RowState: a feature row while its groups of columns are written: the statement with its nest and
// touches, the values that several groups share, and the row. Scratch memory, reused for the
// statements of a program. Not thread-safe.
#pragma once

#include <cmath>
#include <cstdlib>
#include <span>

#include "feature/rows_layout.h"
#include "feature/rows_nest.h"
#include "feature/rows_touch.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::feature {

// Constants for all programs.
struct RowTarget {
  int vector_bytes = 16;
  int registers = 16;
  int threads = 1;
  int64_t capacity[kMemoryLevels] = {};  // NOLINT: bytes of each cache that a thread has
  int64_t line_bytes = 64;
};
RowTarget row_target(const Target& target, const Machine& machine);

// Shared by all rows of a program.
struct ProgramFacts {
  double instructions = 0;  // sum over all statements
  double statements = 0;
  double parallel_regions = 0;
  double workspace_bytes = 0;
};

// A statement with the vector instructions of all its executions.
struct Weighted {
  Statement statement;
  double instructions = 0;
  bool kept = true;
};

// Size of the type that a statement computes in: its accumulator or its elements.
int computed_bytes(const schedule::LoopTree& tree, const Statement& statement);
// Instructions of one execution, without vectorization.
double instructions_of(const schedule::LoopTree& tree, const Statement& statement);

struct RowState {
  // All arguments outlive it.
  RowState(const RowTarget& of_target, const schedule::LoopTree& of_tree,
           const ProgramFacts& of_program, const NestFinder& of_nests)
      : target(of_target), tree(of_tree), program(of_program), nests(of_nests) {}

  // Begins the row of a statement; `into` has column::Count zeros.
  void begin(const Weighted& weighted, const Nest& of_nest, const TouchFinder& of_touches,
             std::span<float> into);
  void set(size_t column, double value) { row[column] = static_cast<float>(value); }
  void set_flag(size_t column, bool value) { row[column] = value ? 1.0F : 0.0F; }
  // Whether consecutive lanes of the vectorized level are one load. The operands of an intrinsic
  // are in the layout that it loads.
  bool is_contiguous(const Touch& touch, size_t level) const {
    return std::abs(touch.flat[level]) == 1 || tensorized;
  }
  // The number of vectors that a vectorized loop takes.
  double vectors_of(const NestLoop& level) const {
    return std::ceil(level.trips / static_cast<double>(lanes));
  }

  const RowTarget& target;
  const schedule::LoopTree& tree;
  const ProgramFacts& program;
  const NestFinder& nests;
  std::span<float> row;
  Statement statement;
  const schedule::Stage* stage = nullptr;
  const Nest* nest = nullptr;
  const TouchFinder* touches = nullptr;
  size_t body = 0;    // the first level of the innermost body: all levels from here on are unrolled
  int vector = -1;    // the innermost vectorized level; -1: none
  int64_t lanes = 1;  // per vector register
  bool tensorized = false;            // an intrinsic computes it
  double factors = 1;                 // products that one instruction adds to each lane
  double thread_share = 1;            // share of the work in the busiest thread
  double bytes[kMaxLevels + 1] = {};  // NOLINT: touched, all buffers, by level
  double lines[kMaxLevels + 1] = {};  // NOLINT
};

}  // namespace tilewright::feature
