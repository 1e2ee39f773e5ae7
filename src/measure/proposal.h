// Proposal: a candidate to be measured, with the hash of its program. The proposer has applied the
// trace. The trace of a program is not applied again on the way to the verdict, except by the build
// worker, which is another process. An illegal one is applied again, to explain it. A value.
#pragma once

#include <span>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "record/known_verdicts.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::measure {

struct Proposal {
  schedule::Trace trace;
  Hash128 program;  // schedule::program_hash; zero: the trace is illegal

  bool operator==(const Proposal&) const = default;
};

// Applies each of the traces, which may be illegal, once.
std::vector<Proposal> proposals_of(const schedule::LoopTree& initial, const Target& target,
                                   std::span<const schedule::Trace> traces);

// The verdict of the proposed program according to `known`; null: it must be measured.
// Valid until `known` changes.
const record::KnownVerdict* known_verdict(const record::KnownVerdicts& known,
                                          const Proposal& proposal);

// The contestants of finals: the default schedule, then the `count` fastest programs of `known`
// without it, fastest first.
Result<std::vector<Proposal>> finalists_of(const record::KnownVerdicts& known,
                                           const Proposal& default_schedule, size_t count);

}  // namespace tilewright::measure
