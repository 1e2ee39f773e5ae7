// Validity: rejects legal but hopeless programs from their LoopTree, before lowering: accumulators
// that exceed the registers, vectors of too many registers, buffers attached under a loop that fit
// no cache or not the memory that they are in, threads without work or more than a block has, code
// that would take long to compile. Immutable after construction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::space {

enum class RejectReason : uint8_t {
  No,
  Registers,
  VectorLength,
  ScopeSize,
  Threads,
  CodeSize,
  MemorySize,
  Launch
};
std::string_view text_of(RejectReason rejected);  // `more accumulators than registers hold`

// Programs of more instructions take long to compile and are rarely good.
int64_t code_limit(const schedule::LoopTree& initial, int vector_bytes);

class Validity {
 public:
  Validity(const Task& task, const schedule::LoopTree& initial, const Machine& machine);
  // `tree` is complete: the result of apply.
  RejectReason check(const schedule::LoopTree& tree) const;
  const Target& target() const { return target_; }

 private:
  bool accumulators_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  bool vectors_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  bool threads_fit(const schedule::LoopTree& tree, const schedule::Stage& stage) const;
  bool memory_fits(const schedule::LoopTree& tree) const;
  int64_t lanes_of(const schedule::LoopTree& tree, const schedule::Stage& stage) const;

  Target target_;
  int64_t code_limit_ = 0;
  int64_t scope_limit_ = 0;  // limit on the total bytes of buffers attached under a loop
  int64_t root_limit_ = 0;   // limit on the bytes of buffers at root
  // Per operator: enough arithmetic and elements to share between threads.
  std::vector<bool> wants_threads_;
};

}  // namespace tilewright::space
