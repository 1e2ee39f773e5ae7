#include "measure/proposal.h"

#include "schedule/apply.h"
#include "schedule/program_hash.h"

namespace tilewright::measure {

std::vector<Proposal> proposals_of(const schedule::LoopTree& initial, const Target& target,
                                   std::span<const schedule::Trace> traces) {
  std::vector<Proposal> proposals;
  proposals.reserve(traces.size());
  schedule::LoopTree tree;
  for (const schedule::Trace& trace : traces) {
    const bool illegal = static_cast<bool>(schedule::apply(initial, trace, &tree));
    proposals.push_back(
        {.trace = trace, .program = illegal ? Hash128{} : schedule::program_hash(tree, target)});
  }
  return proposals;
}

const record::KnownVerdict* known_verdict(const record::KnownVerdicts& known,
                                          const Proposal& proposal) {
  const bool is_illegal = proposal.program == Hash128{};
  return known.peek(record::key_of_candidate(proposal.program,
                                             is_illegal ? to_text(proposal.trace) : std::string()));
}

Result<std::vector<Proposal>> finalists_of(const record::KnownVerdicts& known,
                                           const Proposal& default_schedule, size_t count) {
  std::vector<Proposal> finalists = {default_schedule};
  for (const record::KnownVerdict* one : known.fastest(count)) {
    if (one->program == default_schedule.program) continue;
    schedule::Trace trace = TRY(schedule::trace_from_text(one->trace));
    finalists.push_back({.trace = std::move(trace), .program = one->program});
  }
  return finalists;
}

}  // namespace tilewright::measure
