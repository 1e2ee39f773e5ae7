// Rows: what a cost model sees of a program, from its LoopTree alone: one row of numbers for each
// innermost statement (of a reduction two: where sums begin, and where they are added to), in the
// manner of Ansor (OSDI 2020, section 5.2) with its mistakes corrected. docs/features.md, made from
// feature_table, says what each number is.
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

inline constexpr int kFeatureVersion = 1;  // raised whenever a number means something else

// Makes rows; holds scratch memory, so one per thread.
class FeatureExtractor {
 public:
  FeatureExtractor(const Task& task, const Machine& machine);
  ~FeatureExtractor();
  FeatureExtractor(FeatureExtractor&&) noexcept;
  FeatureExtractor& operator=(FeatureExtractor&&) noexcept;

  // Appends the rows of one program. `tree` is complete: apply has made it.
  void append(const schedule::LoopTree& tree, Encoded* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::feature
