// TraceBuilder: grows a trace decision by decision. Each decision is a few steps that are applied
// at once; where they are not legal they are left out and the builder stands as before. So the
// trace is legal at all times. Not to be shared between threads.
#pragma once

#include <initializer_list>
#include <span>

#include "schedule/apply.h"

namespace tilewright::schedule {

class TraceBuilder {
 public:
  // `initial` outlives the builder. The empty trace of a Dag may be illegal only when a body is too
  // large by itself; then every decision that helps is kept, and `is_legal` says how it stands.
  explicit TraceBuilder(const LoopTree& initial);

  // All of them or none; true when they were taken.
  bool add(std::span<const Step> steps);
  bool add(std::initializer_list<Step> steps) { return add(std::span(steps.begin(), steps.end())); }

  bool is_legal() const { return !illegal_; }
  const Illegal& illegal() const { return illegal_; }
  const LoopTree& tree() const { return tree_; }  // of the trace as it stands
  const Trace& trace() const { return trace_; }

 private:
  const LoopTree& initial_;
  Trace trace_;
  LoopTree tree_;
  LoopTree next_;  // reused: the tree of a try
  Illegal illegal_;
};

}  // namespace tilewright::schedule
