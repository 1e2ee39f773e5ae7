// Shared by explorers: drawing candidates, and the pool of candidates of one call of `ask`.
#pragma once

#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "search/explorer.h"

namespace tilewright::search {

using HashSet = std::unordered_set<Hash128>;  // only queried for membership, never iterated

inline bool is_legal(const Candidate& candidate) { return candidate.program != Hash128{}; }

// Spaces of at most this many genomes are enumerated, not sampled.
inline constexpr double kSmallSpace = 8192;

double genomes_in(std::span<const schedule::Sketch> sketches);

// Every genome of every sketch, in order. For small spaces.
std::vector<Candidate> all_candidates(std::span<const schedule::Sketch> sketches);

// The legal candidates of one call of `ask`: each genome is assessed once, each program kept once.
class CandidatePool {
 public:
  explicit CandidatePool(Assessor* assessor) : assessor_(assessor) {}

  // Queues a candidate for assessment, unless its genome was queued before.
  bool propose(Candidate candidate);
  size_t proposed() const { return proposed_.size(); }
  // Assesses the queued candidates. Returns the number of legal and new ones.
  size_t assess();

  const std::vector<Candidate>& kept() const& { return kept_; }
  std::vector<Candidate> kept() && { return std::move(kept_); }

 private:
  Assessor* assessor_;
  HashSet genomes_;
  HashSet programs_;
  std::vector<Candidate> proposed_;
  std::vector<Candidate> kept_;
};

// The number of proposals that yields about `missing` new candidates, given that `found` of `tried`
// proposals were new.
size_t proposals_for(size_t missing, size_t found, size_t tried);

}  // namespace tilewright::search
