#include "tune/carry.h"

#include <algorithm>
#include <optional>

#include "space/nearest_genome.h"

namespace tilewright::tune {

using search::Candidate;

std::vector<Candidate> carried_candidates(std::span<const schedule::Sketch> sketches,
                                          std::span<const Donation> donations, const Hash128& known,
                                          size_t limit, search::Assessor& assessor) {
  std::vector<Candidate> carried;
  while (carried.size() < limit && !donations.empty()) {
    const auto part = donations.first(std::min(limit - carried.size(), donations.size()));
    donations = donations.subspan(part.size());
    std::vector<Candidate> converted;
    for (const Donation& donation : part) {
      std::optional<space::SketchGenome> nearest =
          space::nearest_genome(sketches, donation.trace, donation.same_extents);
      if (!nearest) continue;
      converted.push_back(
          {.sketch = nearest->sketch, .genome = std::move(nearest->genome), .program = {}});
    }
    assessor.assess(converted);
    for (Candidate& candidate : converted) {
      const bool is_legal = candidate.program != Hash128{};
      const bool is_new = candidate.program != known &&
                          std::ranges::count(carried, candidate.program, &Candidate::program) == 0;
      if (is_legal && is_new) carried.push_back(std::move(candidate));
    }
  }
  return carried;
}

}  // namespace tilewright::tune
