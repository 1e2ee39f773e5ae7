// Decisions: the choices of all sketches that are not tile sizes, numbered so that the same choice
// has the same number in every sketch: `compute_inline P` is one decision in all sketches. Trials
// are counted per decision, so that each decision is tried before a model that has no samples of it
// rules it out. Immutable; the sketches outlive it.
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

  // Every candidate that differs from this one in one decision; those of tile sizes do not count.
  std::vector<Candidate> neighbors(const Candidate& candidate) const;

 private:
  // A hole with few choices.
  struct Open {
    size_t hole;
    std::vector<uint32_t> numbers;  // per choice
  };
  std::span<const schedule::Sketch> sketches_;
  std::vector<std::vector<Open>> open_;  // by sketch
  size_t count_ = 0;
};

}  // namespace tilewright::search
