// Trial: the result of trying one candidate. TrialRunner: tries candidates. The implementation in
// tune/stored_trials.h queries a store and measures the rest; tests have others.
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
  double latency_ns = 0;  // timed: of one call; censored: a lower bound
  bool stored = false;    // answered from the store, not measured
  Hash128 attempt;
  std::string text{};  // failure: what happened

  bool is_timed() const { return kind == record::VerdictKind::Timed; }
  // The value reported to models and explorers: 0 for a failure, the lower bound for a censored
  // trial.
  double label_ns() const { return record::is_failure(kind) ? 0 : latency_ns; }
};

using measure::Proposal;

class TrialRunner {
 public:
  using Report = std::function<void(size_t proposal, const Trial& trial)>;

  virtual ~TrialRunner() = default;
  // Reports one trial per proposal, in any order; fewer if a stop was requested.
  virtual Status run(std::span<const Proposal> proposals, const Report& report) = 0;
};

// An earlier trial that a search starts with.
struct PastTrial {
  Proposal proposal;
  Trial trial;
};

}  // namespace tilewright::tune
