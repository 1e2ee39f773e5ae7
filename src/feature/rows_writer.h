// Writes one feature row: the columns of rows_layout.h for one statement with its nest and touches.
// Those about the kernel and the caches are in rows_kernel.h and rows_caches.h. Plain numbers;
// FeatureExtractor takes the logarithm.
#pragma once

#include <span>

#include "feature/rows_arith.h"
#include "feature/rows_state.h"

namespace tilewright::feature {

class RowWriter {
 public:
  RowWriter(const RowTarget& target, const schedule::LoopTree& tree, const ProgramFacts& program,
            const NestFinder& nests)
      : state_(target, tree, program, nests) {}

  // `row` has column::Count zeros.
  void write(const Weighted& weighted, const Nest& nest, const TouchFinder& touches,
             const DagArithmetic::Statement& arithmetic, std::span<float> row);

 private:
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

  RowState state_;
};

}  // namespace tilewright::feature
