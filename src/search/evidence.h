// Evidence: the results reported to an explorer. It keeps latencies, not scores, because the model
// may have changed since.
#pragma once

#include <span>
#include <vector>

#include "search/decisions.h"
#include "search/drawing.h"

namespace tilewright::search {

class Evidence {
 public:
  explicit Evidence(std::span<const schedule::Sketch> sketches);

  void note_proposed(const Hash128& program) { proposed_.insert(program); }
  bool was_proposed(const Hash128& program) const { return proposed_.contains(program); }
  void tell(std::span<const Outcome> outcomes);

  // Candidates that ran, fastest first, at most `count`; without scores.
  std::vector<Candidate> fastest(size_t count) const;

  size_t trials_of(size_t sketch) const { return sketches_[sketch].trials; }
  // True if the sketch was tried often enough and never came near the fastest of all.
  bool is_hopeless(size_t sketch) const { return is_hopeless(sketches_[sketch]); }

  const Decisions& decisions() const { return decisions_; }
  size_t trials_of_decision(uint32_t decision) const { return by_decision_[decision].trials; }
  bool is_hopeless_decision(uint32_t decision) const { return is_hopeless(by_decision_[decision]); }

 private:
  struct Tried {
    size_t trials = 0;
    double best_ns = 0;  // 0: none ran

    void add(double latency_ns);
  };
  bool is_hopeless(const Tried& tried) const;

  std::span<const schedule::Sketch> all_;
  Decisions decisions_;
  std::vector<Tried> sketches_;
  std::vector<Tried> by_decision_;
  std::vector<Outcome> ran_;  // fastest first
  HashSet proposed_;
};

}  // namespace tilewright::search
