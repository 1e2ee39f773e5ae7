// Carry: schedules of similar tasks as the first candidates of a search. Each is converted to the
// nearest genome of the search's space (space/nearest_genome.h), so that explorers can vary it like
// any other candidate. tune/donors.h selects the schedules.
#pragma once

#include <span>
#include <vector>

#include "schedule/trace.h"
#include "search/explorer.h"

namespace tilewright::tune {

inline constexpr size_t kMaxCarried = 8;  // candidates per search

// The schedule of a similar task.
struct Donation {
  schedule::Trace trace;
  bool same_extents = false;  // of both tasks
};

// Up to `limit` assessed candidates with distinct programs, in the order of the donations. Left out
// are donations that no sketch resembles, that become illegal or are rejected, and `known`.
std::vector<search::Candidate> carried_candidates(std::span<const schedule::Sketch> sketches,
                                                  std::span<const Donation> donations,
                                                  const Hash128& known, size_t limit,
                                                  search::Assessor& assessor);

}  // namespace tilewright::tune
