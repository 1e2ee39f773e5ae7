// The memory layouts of packed buffers, and the share of accesses whose guards hold, for
// TouchFinder.
#pragma once

#include <cstdint>
#include <vector>

#include "base/inline_vector.h"
#include "schedule/loop_tree.h"

namespace tilewright::feature {

// The layouts of a tree's packed buffers as digits, computed when they are first needed. Holds
// scratch memory: created once, used for many programs.
class BufferDigits {
 public:
  // One digit of the layout of a buffer: index of dimension `dim` / divisor mod extent.
  struct Digit {
    uint8_t dim = 0;
    int64_t divisor = 1;
    int64_t extent = 1;
    int64_t stride = 1;  // in elements
    int depth = 0;       // depth of the loop that traverses it
    int64_t fused = 1;   // its divisor in a fusion
  };
  static constexpr size_t kMaxDigits = 24;
  using Digits = InlineVector<Digit, kMaxDigits>;

  void begin(const schedule::LoopTree& tree);  // outlives the calls of `of`
  // A layout with more than kMaxDigits is left incomplete.
  const Digits& of(schedule::BufferIndex buffer);

 private:
  const schedule::LoopTree* tree_ = nullptr;
  std::vector<Digits> digits_;  // per buffer
  std::vector<uint8_t> is_known_;
};

// For a guarded access: the share of the operator's iterations in which all indices are in bounds.
double guard_density(const schedule::LoopTree& tree, const schedule::Access& access);

}  // namespace tilewright::feature
