// SketchWriter: the steps and holes of a sketch as it grows, with the draws that all parts of a
// random structure share. Holds a reference to the generator; not to be shared between threads.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "schedule/sketch.h"

namespace tilewright::space {

// A loop that a step will have made, and how long it is about.
struct DrawnLoop {
  Name name;
  int64_t extent = 1;
};
using DrawnLoops = std::vector<DrawnLoop>;

class SketchWriter {
 public:
  explicit SketchWriter(Rng& rng) : rng_(rng) {}

  Rng& rng() { return rng_; }
  bool chance(double probability) { return rng_.chance(probability); }

  void add(const schedule::Step& step) { sketch_.trace.steps.push_back(step); }
  // A hole: the step, or nothing.
  void add_maybe(schedule::StageName stage, const schedule::Step& step);
  // A split with a hole for its factors.
  void add_split(schedule::StageName stage, Name loop,
                 const std::vector<schedule::Factors>& choices,
                 schedule::Tail tail = schedule::Tail::Peel);
  void add_reorder(schedule::StageName stage, std::initializer_list<const DrawnLoops*> parts);
  // Fuses the first `count` of the loops, in the trace and in the list.
  void fuse_first(schedule::StageName stage, DrawnLoops& loops, size_t count);

  // A factor of up to `high` for an axis: mostly one that divides it.
  int64_t some_factor(int64_t extent, int64_t high);
  // A few such, as choices for a split in two.
  std::vector<schedule::Factors> some_factors(int64_t extent, int64_t high);
  // What becomes of a remainder: mostly a copy of the code.
  schedule::Tail some_tail(bool vector);
  void shuffle(DrawnLoops& loops);

  schedule::Sketch finish() && { return std::move(sketch_); }

 private:
  int16_t next_step() const { return static_cast<int16_t>(sketch_.trace.steps.size()); }

  Rng& rng_;
  schedule::Sketch sketch_;
};

}  // namespace tilewright::space
