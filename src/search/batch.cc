#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tilewright::search {
namespace {

// Smaller batches may have no random candidate.
constexpr size_t kAlwaysOneByChance = 16;

size_t share_of(double share, size_t count) {
  return static_cast<size_t>(std::ceil(share * static_cast<double>(count)));
}

class Chooser {
 public:
  Chooser(std::span<const Candidate> found, const Evidence& evidence, const BatchOptions& options)
      : found_(found), evidence_(evidence), options_(options), taken_(found.size()) {
    for (const size_t k : by_score(found)) {
      if (!evidence.was_proposed(found[k].program)) order_.push_back(k);
    }
  }

  // The best of each sketch that may still win, least tried first.
  void take_of_each_sketch() {
    struct Turn {
      size_t trials;
      size_t rank;  // by score
      size_t index;
    };
    std::vector<Turn> turns;
    std::vector<bool> seen;
    for (const size_t k : order_) {
      const size_t sketch = found_[k].sketch;
      if (sketch >= seen.size()) seen.resize(sketch + 1);
      if (seen[sketch]) continue;
      seen[sketch] = true;
      if (!evidence_.is_hopeless(sketch)) {
        turns.push_back({evidence_.trials_of(sketch), turns.size(), k});
      }
    }
    std::ranges::sort(turns, {},
                      [](const Turn& turn) { return std::pair(turn.trials, turn.rank); });
    const size_t max_taken = share_of(options_.sketch_share, options_.count);
    for (size_t k = 0; k < turns.size() && k < max_taken; ++k) take(turns[k].index);
  }

  // The best candidate with each decision that was rarely tried and may still win, least tried
  // first.
  void take_of_each_decision() {
    const size_t max_taken = share_of(options_.decision_share, options_.count);
    std::vector<size_t> trials(evidence_.decisions().count());
    std::vector<uint32_t> waiting;
    for (uint32_t decision = 0; decision < trials.size(); ++decision) {
      trials[decision] = evidence_.trials_of_decision(decision);
      if (trials[decision] < options_.decision_trials &&
          !evidence_.is_hopeless_decision(decision)) {
        waiting.push_back(decision);
      }
    }
    std::ranges::sort(waiting, {},
                      [&](uint32_t decision) { return std::pair(trials[decision], decision); });
    std::vector<uint32_t> own;
    size_t took = 0;
    for (const uint32_t decision : waiting) {
      if (took == max_taken) return;
      if (trials[decision] >= options_.decision_trials) continue;  // already selected with another
      const auto best = std::ranges::find_if(order_, [&](size_t k) {
        if (taken_[k] || evidence_.is_hopeless(found_[k].sketch)) return false;
        evidence_.decisions().of(found_[k], &own);
        return std::ranges::find(own, decision) != own.end();
      });
      if (best == order_.end()) continue;
      take(*best);
      ++took;
      evidence_.decisions().of(found_[*best], &own);
      for (const uint32_t other : own) ++trials[other];
    }
  }

  // Candidates that differ from the fastest measured one in one decision, least tried decisions
  // first: a decision that was slow in combination with others may be good there.
  void take_neighbors() {
    const std::vector<Candidate> fastest = evidence_.fastest(1);
    if (fastest.empty()) return;
    struct Turn {
      size_t trials;
      size_t rank;  // by score
      size_t index;
    };
    std::vector<uint32_t> own, best;
    evidence_.decisions().of(fastest[0], &best);
    std::vector<Turn> turns;
    for (const size_t k : order_) {
      if (taken_[k] || !are_twins(found_[k], fastest[0])) continue;
      evidence_.decisions().of(found_[k], &own);
      for (size_t d = 0; d < own.size(); ++d) {
        if (own[d] == best[d]) continue;
        turns.push_back({evidence_.trials_of_decision(own[d]), turns.size(), k});
      }
    }
    std::ranges::sort(turns, {},
                      [](const Turn& turn) { return std::pair(turn.trials, turn.rank); });
    const size_t max_taken = share_of(options_.neighbor_share, options_.count);
    for (size_t k = 0; k < turns.size() && k < max_taken; ++k) take(turns[k].index);
  }

  void take_by_chance(std::span<const size_t> fresh, Rng& rng) {
    const double wanted = options_.random_share * static_cast<double>(options_.count);
    const size_t count = options_.count >= kAlwaysOneByChance
                             ? share_of(options_.random_share, options_.count)
                             : static_cast<size_t>(wanted + rng.uniform());
    std::vector<size_t> left;
    for (const size_t k : fresh) {
      if (!taken_[k] && !evidence_.was_proposed(found_[k].program)) left.push_back(k);
    }
    for (; !left.empty() && by_chance_.size() < count; left.pop_back()) {
      std::swap(left[rng.below(left.size())], left.back());
      taken_[left.back()] = true;
      by_chance_.push_back(left.back());
    }
  }

  // The best of all, with twins up to their share; further twins only if nothing else is left.
  void fill() {
    const size_t max_taken = share_of(options_.twin_share, options_.count);
    size_t twins = 0;
    for (const bool all : {false, true}) {
      for (const size_t k : order_) {
        if (is_full()) return;
        if (taken_[k]) continue;
        if (!all && has_better_twin(k)) {
          if (twins == max_taken) continue;
          ++twins;
        }
        take(k);
      }
    }
  }

  std::vector<Candidate> answer() {
    std::ranges::sort(chosen_, {}, [&](size_t k) { return std::pair(-found_[k].score, k); });
    std::vector<Candidate> out;
    out.reserve(options_.count);
    for (const std::vector<size_t>* part : {&chosen_, &by_chance_}) {
      for (const size_t k : *part) out.push_back(found_[k]);
    }
    return out;
  }

 private:
  bool is_full() const { return chosen_.size() + by_chance_.size() >= options_.count; }

  void take(size_t k) {
    if (is_full() || taken_[k]) return;
    taken_[k] = true;
    chosen_.push_back(k);
  }

  bool has_better_twin(size_t k) const {
    return std::ranges::any_of(chosen_, [&](size_t c) {
      return found_[c].score >= found_[k].score && are_twins(found_[c], found_[k]);
    });
  }

  std::span<const Candidate> found_;
  const Evidence& evidence_;
  const BatchOptions& options_;
  std::vector<bool> taken_;
  std::vector<size_t> order_;  // never proposed, best first
  std::vector<size_t> chosen_;
  std::vector<size_t> by_chance_;
};

}  // namespace

bool are_twins(const Candidate& a, const Candidate& b) {
  if (a.sketch != b.sketch) return false;
  size_t different = 0;
  for (size_t k = 0; k < a.genome.genes.size() && different < 2; ++k) {
    different += a.genome.genes[k] != b.genome.genes[k] ? 1 : 0;
  }
  return different < 2;
}

std::vector<size_t> by_score(std::span<const Candidate> candidates) {
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t k) { return std::pair(-candidates[k].score, k); });
  return order;
}

std::vector<Candidate> choose_batch(std::span<const Candidate> found, std::span<const size_t> fresh,
                                    const Evidence& evidence, const BatchOptions& options,
                                    Rng& rng) {
  Chooser chooser(found, evidence, options);
  chooser.take_by_chance(fresh, rng);
  chooser.take_of_each_sketch();
  chooser.take_of_each_decision();
  chooser.take_neighbors();
  chooser.fill();
  return chooser.answer();
}

}  // namespace tilewright::search
