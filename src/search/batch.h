// choose_batch: selects the candidates to propose from those that a search has found. Most are the
// best by score. The others keep the batch diverse: at least one of each sketch that may still win,
// one of each decision that was rarely tried, some that differ from the fastest measured ones in
// one decision, and some at random. Few are nearly equal to a better one.
#pragma once

#include <span>
#include <vector>

#include "search/evidence.h"

namespace tilewright::search {

struct BatchOptions {
  size_t count = 64;
  double random_share = 0.05;   // share of `count` that is drawn from `fresh`
  double sketch_share = 0.25;   // largest share reserved for sketches that are not represented
  double decision_share = 0.4;  // largest share reserved for decisions that were rarely tried
  size_t decision_trials = 3;   // a decision with this many trials is not reserved for
  // Largest share that differs from the fastest measured ones in one decision.
  double neighbor_share = 0.15;
  double twin_share = 0.2;  // largest share that differs from a better one in one gene
};

// Best first, random ones last. `fresh` are indices into `found` of candidates that no model has
// selected.
std::vector<Candidate> choose_batch(std::span<const Candidate> found, std::span<const size_t> fresh,
                                    const Evidence& evidence, const BatchOptions& options,
                                    Rng& rng);

// True if two genomes of one sketch differ in at most one gene.
bool are_twins(const Candidate& a, const Candidate& b);

// The indices of all candidates, best score first; equal scores keep their order.
std::vector<size_t> by_score(std::span<const Candidate> candidates);

}  // namespace tilewright::search
