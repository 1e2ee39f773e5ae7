// SampledChecker: checks programs of workloads that are too large for the interpreter. They are
// compiled and run, and sampled elements of each output are compared with te/eval within their
// rounding bound. The first and the last element are always sampled. Writes outside the buffers are
// detected.
#pragma once

#include <optional>
#include <string>

#include "operands.h"
#include "schedule/trace.h"
#include "te/rounding_bound.h"

namespace tilewright::testing {

class SampledChecker {
 public:
  SampledChecker(Task task, uint64_t seed);
  SampledChecker(const SampledChecker&) = delete;  // the bounds refer to it
  SampledChecker& operator=(const SampledChecker&) = delete;
  ~SampledChecker() = default;

  const Task& task() const { return task_; }

  // The first error of the program of the trace, or nothing.
  std::optional<std::string> check(const schedule::LoopTree& tree, const schedule::Trace& trace);

 private:
  std::optional<std::string> first_wrong(te::TensorId output, const std::vector<uint8_t>& bytes);

  Task task_;
  Memory operands_;
  te::RoundingBound bound_;
  std::vector<uint64_t> draws_;  // the same elements for each program
};

}  // namespace tilewright::testing
