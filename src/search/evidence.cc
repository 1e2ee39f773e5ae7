#include "search/evidence.h"

#include <algorithm>

namespace tilewright::search {
namespace {

// A sketch is hopeless when after `trials` its fastest is slower than the fastest of all by that.
struct Verdict {
  size_t trials;
  double slower;
};
constexpr Verdict kHopeless[] = {{4, 4.0}, {8, 2.0}, {16, 1.5}, {32, 1.2}};

}  // namespace

Evidence::Evidence(std::span<const schedule::Sketch> sketches)
    : all_(sketches), sketches_(sketches.size()) {}

void Evidence::tell(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    const Candidate& candidate = outcome.candidate;
    asked_.insert(candidate.program);
    // A schedule that did not come from the space has no genome.
    const bool is_ours = candidate.sketch < all_.size() &&
                         candidate.genome.genes.size() == all_[candidate.sketch].holes.size();
    if (!is_ours) continue;
    OfSketch& sketch = sketches_[candidate.sketch];
    ++sketch.trials;
    if (outcome.latency_ns <= 0) continue;
    if (sketch.best_ns == 0 || outcome.latency_ns < sketch.best_ns) {
      sketch.best_ns = outcome.latency_ns;
    }
    ran_.push_back(outcome);
  }
  std::ranges::stable_sort(ran_, {}, &Outcome::latency_ns);
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

bool Evidence::is_hopeless(size_t sketch) const {
  const OfSketch& own = sketches_[sketch];
  return std::ranges::any_of(kHopeless, [&](const Verdict& verdict) {
    if (own.trials < verdict.trials) return false;
    if (own.best_ns == 0) return true;
    return own.best_ns > verdict.slower * ran_.front().latency_ns;
  });
}

}  // namespace tilewright::search
