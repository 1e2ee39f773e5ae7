// What explorers share: drawing candidates, and the set of those that one question has met.
#pragma once

#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "search/explorer.h"

namespace tilewright::search {

using HashSet = std::unordered_set<Hash128>;  // asked for members, never walked through

inline bool is_legal(const Candidate& candidate) { return candidate.program != Hash128{}; }

// Spaces of at most that many genomes are written out whole instead of being sampled.
inline constexpr double kSmallSpace = 8192;

double genomes_in(std::span<const schedule::Sketch> sketches);

// Every genome of every sketch, in order. For small spaces.
std::vector<Candidate> all_candidates(std::span<const schedule::Sketch> sketches);

// The candidates of one question: legal ones, each genome assessed once, each program kept once.
class CandidatePool {
 public:
  explicit CandidatePool(Assessor* assessor) : assessor_(assessor) {}

  // Puts a candidate on the list of those to be assessed, unless its genome has been there.
  bool propose(Candidate candidate);
  size_t proposed() const { return proposed_.size(); }
  // Assesses what was proposed; returns how many of them were legal and new.
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

// How many to propose so that about `missing` of them are new, after `found` of `tried` were.
size_t proposals_for(size_t missing, size_t found, size_t tried);

}  // namespace tilewright::search
