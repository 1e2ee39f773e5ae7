// Decisions: the choices of all sketches that are not tile sizes. The same choice has the same
// number in every sketch: `compute_inline P` is one decision, wherever it is available. Explorers
// count trials per decision, so that each is tried before a model that has never seen it rules it
// out. Immutable.
#pragma once

#include <span>
#include <vector>

#include "search/explorer.h"

namespace tilewright::search {

class Decisions {
 public:
  explicit Decisions(std::span<const schedule::Sketch> sketches);

  size_t count() const { return count_; }
  // Appends the numbers of the decisions of a candidate.
  void of(const Candidate& candidate, std::vector<uint32_t>* numbers) const;

  // All candidates that differ from this one in one decision.
  std::vector<Candidate> neighbors(const Candidate& candidate) const;

 private:
  // A hole with few choices.
  struct Open {
    size_t hole;
    std::vector<uint32_t> numbers;  // per choice
  };
  std::vector<std::vector<Open>> open_;  // per sketch
  size_t count_ = 0;
};

}  // namespace tilewright::search
