#include "search/drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "search/genome_hash.h"

namespace tilewright::search {

double genomes_in(std::span<const schedule::Sketch> sketches) {
  double sum = 0;
  for (const schedule::Sketch& sketch : sketches) sum += sketch.size();
  return sum;
}

std::vector<Candidate> all_candidates(std::span<const schedule::Sketch> sketches) {
  CHECK(genomes_in(sketches) <= kSmallSpace, "the space is too large to be written out");
  std::vector<Candidate> all;
  for (size_t s = 0; s < sketches.size(); ++s) {
    const schedule::Sketch& sketch = sketches[s];
    Candidate candidate{.sketch = static_cast<uint16_t>(s), .genome = {}, .program = {}};
    std::vector<uint16_t>& genes = candidate.genome.genes;
    genes.assign(sketch.holes.size(), 0);
    for (bool more = true; more;) {
      all.push_back(candidate);
      more = false;  // until a gene can be incremented
      for (size_t h = 0; h < genes.size() && !more; ++h) {
        more = size_t{genes[h]} + 1 < sketch.holes[h].size();
        genes[h] = more ? static_cast<uint16_t>(genes[h] + 1) : uint16_t{0};
      }
    }
  }
  return all;
}

bool CandidatePool::propose(Candidate candidate) {
  if (!genomes_.insert(genome_hash(candidate.sketch, candidate.genome)).second) return false;
  proposed_.push_back(std::move(candidate));
  return true;
}

size_t CandidatePool::assess() {
  assessor_->assess(proposed_);
  const size_t before = kept_.size();
  for (Candidate& candidate : proposed_) {
    if (!is_legal(candidate) || !programs_.insert(candidate.program).second) continue;
    if (std::isnan(candidate.score)) candidate.score = std::numeric_limits<float>::lowest();
    kept_.push_back(std::move(candidate));
  }
  proposed_.clear();
  return kept_.size() - before;
}

size_t proposals_for(size_t missing, size_t found, size_t tried) {
  constexpr double kMinRate = 0.1;
  const double rate = tried == 0 ? 1 : static_cast<double>(found) / static_cast<double>(tried);
  return static_cast<size_t>(static_cast<double>(missing) / std::max(rate, kMinRate)) + 1;
}

}  // namespace tilewright::search
