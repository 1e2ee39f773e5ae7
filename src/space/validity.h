// Validity: programs that are legal but cannot be any good are told from their LoopTree, before
// anything is lowered: sums that do not fit the registers, vectors longer than a few registers,
// buffers attached under a loop that no cache holds, threads without work, code that would take
// long to compile.
#pragma once

#include <cstdint>
#include <string_view>

#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::space {

enum class Unfit : uint8_t { No, Registers, VectorLength, ScopeSize, Threads, CodeSize };
std::string_view unfit_text(Unfit unfit);

class Validity {
 public:
  Validity(const Task& task, const schedule::LoopTree& initial, const Machine& machine);
  Unfit check(const schedule::LoopTree& tree) const;

 private:
  Target target_;
  int64_t code_limit_ = 0;
  int64_t scope_limit_ = 0;  // bytes of buffers attached under a loop, all together
};

}  // namespace tilewright::space
