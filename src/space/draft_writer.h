// DraftWriter: appends steps and holes to a sketch, which outlives it. Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "schedule/sketch.h"

namespace tilewright::space {

class DraftWriter {
 public:
  explicit DraftWriter(schedule::Sketch& sketch) : sketch_(sketch) {}

  using Steps = std::vector<schedule::Step>;

  int16_t next_step() const { return static_cast<int16_t>(sketch_.trace.steps.size()); }
  int16_t add(const schedule::Step& step);
  void add(const Steps& steps);
  void add_hole(schedule::Hole hole);  // a hole with a single choice is replaced by that choice

  // A hole: the step, or nothing.
  void add_maybe(schedule::StageName stage, schedule::HoleKind kind, const schedule::Step& step);
  // A hole: one of several lists of steps.
  void add_one_of(schedule::StageName stage, schedule::HoleKind kind, std::vector<Steps> choices);
  // A position in the trace that a hole with several sites fills later; `example` is any step.
  int16_t add_site(const schedule::Step& example) { return add(example); }
  void fill_sites(schedule::StageName stage, schedule::HoleKind kind, std::vector<int16_t> sites,
                  std::vector<std::vector<Steps>> choices);
  // A split of a loop, with a hole for its factors.
  void add_split(schedule::StageName stage, Name loop, schedule::TileDomain domain,
                 schedule::Tail tail = schedule::Tail::Peel);

  void reorder(schedule::StageName stage, std::span<const Name> loops);
  void annotate(schedule::StageName stage, Name loop, schedule::Annotation how);
  // The tile in registers: `lane` is vectorized, the other loops are unrolled.
  void annotate_innermost(schedule::StageName stage, std::span<const Name> loops, Name lane);

 private:
  schedule::Sketch& sketch_;
};

// Adjacent loops fused into one: the steps, and the name of the result.
struct FusedLoops {
  DraftWriter::Steps steps;
  Name name;
};
FusedLoops fuse_loops(schedule::StageName stage, std::span<const Name> loops);

schedule::Step reorder_step(schedule::StageName stage, std::span<const Name> loops);

}  // namespace tilewright::space
