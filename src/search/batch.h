// What is asked for, out of what a search has found: the best by score, but of each sketch that
// may still win at least one, of each decision that was hardly tried one, some that are one
// decision apart from the fastest measured, few that are all but equal, and some by chance.
#pragma once

#include <span>
#include <vector>

#include "search/evidence.h"

namespace tilewright::search {

struct BatchOptions {
  size_t count = 64;
  double random_share = 0.05;    // of `count`, drawn from `fresh`
  double sketch_share = 0.25;    // at most that many to give every sketch its turn
  double decision_share = 0.4;   // at most that many to give every decision its turn
  size_t decision_trials = 3;    // a decision that was tried so often needs no turn
  double neighbor_share = 0.15;  // at most that many one decision apart from the fastest measured
  double twin_share = 0.2;       // at most that many differ in one gene from a better one
};

// Best first, those by chance last. `fresh` are indices of `found` that no model has chosen.
std::vector<Candidate> choose_batch(std::span<const Candidate> found, std::span<const size_t> fresh,
                                    const Evidence& evidence, const BatchOptions& options,
                                    Rng& rng);

// Do two genomes of one sketch differ in at most one gene?
bool are_twins(const Candidate& a, const Candidate& b);

// The indices of all candidates, best score first, in their order where equal.
std::vector<size_t> by_score(std::span<const Candidate> candidates);

}  // namespace tilewright::search
