// Validity: programs that are legal but cannot be any good are told from their LoopTree, before
// anything is lowered: sums that do not fit the registers, vectors longer than a few registers,
// buffers attached under a loop that no cache holds, threads without work, code that would take
// long to compile.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::space {

enum class RejectReason : uint8_t { No, Registers, VectorLength, ScopeSize, Threads, CodeSize };
std::string_view unfit_text(RejectReason unfit);  // `more sums than registers hold`

class Validity {
 public:
  Validity(const Task& task, const schedule::LoopTree& initial, const Machine& machine);
  // `tree` is complete: apply has made it.
  RejectReason check(const schedule::LoopTree& tree) const;

 private:
  bool accumulators_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  bool vectors_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  bool threads_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  int64_t lanes_of(const schedule::LoopTree& tree, const schedule::Stage& stage) const;

  Target target_;
  int64_t code_limit_ = 0;
  int64_t scope_limit_ = 0;          // bytes of buffers attached under a loop, all together
  int64_t root_limit_ = 0;           // bytes of buffers that are computed whole
  std::vector<bool> wants_threads_;  // by operator: enough arithmetic and elements to share
};

}  // namespace tilewright::space
