// TraceBuilder: extends a trace decision by decision. A decision is a few steps, which are applied
// at once; if they are illegal, they are dropped and the builder is unchanged. The trace is
// therefore always legal. Not thread-safe.
#pragma once

#include <initializer_list>
#include <span>

#include "schedule/apply.h"

namespace tilewright::schedule {

class TraceBuilder {
 public:
  // `initial` outlives the builder. The empty trace of a Dag is illegal only if a body is too large
  // by itself; then every decision that helps is kept, and `is_legal` returns the current state.
  explicit TraceBuilder(const LoopTree& initial);

  // Adds all steps or none; true if they were added.
  bool add(std::span<const Step> steps);
  bool add(std::initializer_list<Step> steps) { return add(std::span(steps.begin(), steps.end())); }

  bool is_legal() const { return !illegal_; }
  const Illegal& illegal() const { return illegal_; }
  const LoopTree& tree() const { return tree_; }  // of the current trace
  const Trace& trace() const { return trace_; }

 private:
  const LoopTree& initial_;
  Trace trace_;
  LoopTree tree_;
  LoopTree next_;  // scratch: the tree of an attempt
  Illegal illegal_;
};

}  // namespace tilewright::schedule
