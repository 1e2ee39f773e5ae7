// Feature rows: the numbers that a cost model reads, computed from the LoopTree alone: one row for
// each innermost statement (two for a reduction: initialization and update), after Ansor (OSDI
// 2020, section 5.2), with corrections. docs/features.md, generated from feature_table, describes
// each number.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "feature/encoded.h"
#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::feature {

inline constexpr int kFeatureVersion = 2;  // raised whenever the meaning of a number changes

// Makes rows; holds scratch memory, so one per thread.
class FeatureExtractor {
 public:
  FeatureExtractor(const Task& task, const Machine& machine);
  ~FeatureExtractor();
  FeatureExtractor(FeatureExtractor&&) noexcept;
  FeatureExtractor& operator=(FeatureExtractor&&) noexcept;

  // Appends the rows of one program. `tree` is complete: the result of apply.
  void append(const schedule::LoopTree& tree, Encoded* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::feature
