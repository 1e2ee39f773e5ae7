#include "search/evidence.h"

#include <algorithm>
#include <utility>

namespace tilewright::search {
namespace {

// A sketch or a decision is hopeless if, after `trials`, its fastest is slower than the fastest of
// all by this factor.
struct Verdict {
  size_t trials;
  double slower;
};
constexpr Verdict kHopeless[] = {{4, 4.0}, {8, 2.0}, {16, 1.5}, {32, 1.2}};

}  // namespace

Evidence::Evidence(std::span<const schedule::Sketch> sketches)
    : all_(sketches),
      decisions_(sketches),
      sketches_(sketches.size()),
      by_decision_(decisions_.count()) {}

void Evidence::Tried::add(double latency_ns) {
  ++trials;
  if (latency_ns > 0 && (best_ns == 0 || latency_ns < best_ns)) best_ns = latency_ns;
}

void Evidence::tell(std::span<const Outcome> outcomes) {
  std::vector<uint32_t> taken;
  for (const Outcome& outcome : outcomes) {
    const Candidate& candidate = outcome.candidate;
    proposed_.insert(candidate.program);
    // A schedule that is not from the space has no genome.
    const bool is_ours = candidate.sketch < all_.size() &&
                         candidate.genome.genes.size() == all_[candidate.sketch].holes.size();
    if (!is_ours) continue;
    sketches_[candidate.sketch].add(outcome.latency_ns);
    decisions_.of(candidate, &taken);
    for (const uint32_t decision : taken) by_decision_[decision].add(outcome.latency_ns);
    if (outcome.latency_ns <= 0) continue;
    ran_.push_back(outcome);
  }
  std::ranges::sort(ran_, {}, [](const Outcome& outcome) {
    return std::pair(outcome.latency_ns, outcome.candidate.program);
  });
}

std::vector<Candidate> Evidence::fastest(size_t count) const {
  std::vector<Candidate> out;
  out.reserve(std::min(count, ran_.size()));
  for (size_t k = 0; k < ran_.size() && k < count; ++k) {
    out.push_back(
        {.sketch = ran_[k].candidate.sketch, .genome = ran_[k].candidate.genome, .program = {}});
  }
  return out;
}

bool Evidence::is_hopeless(const Tried& own) const {
  return std::ranges::any_of(kHopeless, [&](const Verdict& verdict) {
    if (own.trials < verdict.trials) return false;
    if (own.best_ns == 0) return true;
    return own.best_ns > verdict.slower * ran_.front().latency_ns;
  });
}

}  // namespace tilewright::search
