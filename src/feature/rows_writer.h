// Writes one feature row: the columns of rows_layout.h for one statement with its nest and touches.
// Plain numbers; FeatureExtractor takes the logarithm.
#pragma once

#include <span>

#include "feature/rows_arith.h"
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

class RowWriter {
 public:
  RowWriter(const RowTarget& target, const schedule::LoopTree& tree, const ProgramFacts& program,
            const NestFinder& nests)
      : target_(target), tree_(tree), program_(program), nests_(nests) {}

  // `row` has column::Count zeros.
  void write(const Weighted& weighted, const Nest& nest, const TouchFinder& touches,
             const DagArithmetic::Statement& arithmetic, std::span<float> row);

 private:
  void set(size_t column, double value) { row_[column] = static_cast<float>(value); }
  void set_flag(size_t column, bool value) { row_[column] = value ? 1.0F : 0.0F; }

  void find_levels();
  void write_arithmetic(const DagArithmetic::Statement& arithmetic);
  void write_annotation(schedule::Annotation annotation, size_t column);
  size_t position_of(size_t level) const;
  void write_bound();
  void write_accesses();
  void write_access(const Touch& touch, double lines, size_t column);
  double accessed_lines(const Touch& touch) const;
  void write_curve(const DagArithmetic::Statement& arithmetic);
  void write_buffer();
  void write_types();
  void write_tails();
  void write_kernel(const Weighted& weighted);
  void write_operands(double vectors);
  double updates_in_registers() const;
  void write_threads(const Weighted& weighted);
  void write_level(size_t level, const Weighted& weighted);
  void write_recompute(const DagArithmetic::Statement& arithmetic);
  double vectors_of(const NestLoop& level) const;  // number of vectors that a vectorized loop takes

  const RowTarget& target_;
  const schedule::LoopTree& tree_;
  const ProgramFacts& program_;
  const NestFinder& nests_;

  // State of the current row.
  std::span<float> row_;
  Statement statement_;
  const schedule::Stage* stage_ = nullptr;
  const Nest* nest_ = nullptr;
  const TouchFinder* touches_ = nullptr;
  size_t body_ = 0;  // the first level of the innermost body: all levels from here on are unrolled
  int vector_ = -1;  // the innermost vectorized level; -1: none
  int64_t lanes_ = 1;                  // per vector register
  double thread_share_ = 1;            // share of the work in the busiest thread
  double bytes_[kMaxLevels + 1] = {};  // NOLINT: touched, all buffers, by level
  double lines_[kMaxLevels + 1] = {};  // NOLINT
};

}  // namespace tilewright::feature
