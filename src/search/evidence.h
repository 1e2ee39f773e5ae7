// Evidence: what an explorer has been told. Latencies only; scores are not kept, since the model
// that gave them may be another one by now.
#pragma once

#include <span>
#include <vector>

#include "search/drawing.h"

namespace tilewright::search {

class Evidence {
 public:
  explicit Evidence(std::span<const schedule::Sketch> sketches);

  void note_asked(const Hash128& program) { asked_.insert(program); }
  bool was_asked(const Hash128& program) const { return asked_.contains(program); }
  void tell(std::span<const Outcome> outcomes);

  // Those that ran, fastest first, at most `count`; without scores.
  std::vector<Candidate> fastest(size_t count) const;

  size_t trials_of(size_t sketch) const { return sketches_[sketch].trials; }
  // Tried often enough and never near the fastest of all.
  bool is_hopeless(size_t sketch) const;

 private:
  struct OfSketch {
    size_t trials = 0;
    double best_ns = 0;  // 0: none ran
  };

  std::span<const schedule::Sketch> all_;
  std::vector<OfSketch> sketches_;
  std::vector<Outcome> ran_;  // fastest first, in the order of telling where equal
  HashSet asked_;
};

}  // namespace tilewright::search
