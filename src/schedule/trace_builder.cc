#include "schedule/trace_builder.h"

#include <utility>

namespace tilewright::schedule {

TraceBuilder::TraceBuilder(const LoopTree& initial) : initial_(initial) {
  illegal_ = apply(initial_, trace_, &tree_);
}

bool TraceBuilder::add(std::span<const Step> steps) {
  const size_t before = trace_.steps.size();
  if (before + steps.size() > kMaxSteps) return false;
  trace_.steps.insert(trace_.steps.end(), steps.begin(), steps.end());
  const Illegal illegal = apply(initial_, trace_, &next_);
  // A trace that is too large before any step may be smaller after several; it must not grow
  // meanwhile.
  const bool taken = !illegal || (illegal_ && illegal.code == IllegalCode::CodeTooLarge &&
                                  illegal.a <= illegal_.a);
  if (!taken) {
    trace_.steps.resize(before);
    return false;
  }
  illegal_ = illegal;
  std::swap(tree_, next_);
  return true;
}

}  // namespace tilewright::schedule
