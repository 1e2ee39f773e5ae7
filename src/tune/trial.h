// Trial: what a search learns of one candidate that was tried. TrialRunner: who tries them; the
// real one (tune/stored_trials.h) asks a store first and then measures, tests have others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "measure/proposal.h"
#include "record/attempt.h"

namespace tilewright::tune {

struct Trial {
  record::VerdictKind kind = record::VerdictKind::Device;
  double latency_ns = 0;  // timed: of one call; censored: it takes longer
  bool stored = false;    // it was known: nothing was measured
  Hash128 attempt;
  std::string text{};  // of a failure: what happened

  bool is_timed() const { return kind == record::VerdictKind::Timed; }
  // What models and explorers are told: 0 for a failure, the bound for a censored one.
  double label_ns() const { return record::is_failure(kind) ? 0 : latency_ns; }
};

using measure::Proposal;

class TrialRunner {
 public:
  using Report = std::function<void(size_t proposal, const Trial& trial)>;

  virtual ~TrialRunner() = default;
  // One report a proposal, in any order; fewer when it was asked to stop.
  virtual Status run(std::span<const Proposal> proposals, const Report& report) = 0;
};

// A trial of the past that a search begins with.
struct PastTrial {
  Proposal proposal;
  Trial trial;
};

}  // namespace tilewright::tune
