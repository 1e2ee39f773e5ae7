// StoredTrials: the TrialRunner of one task over a store. A program with a stored verdict gets that
// verdict; the others are measured in a session, which starts with the first of them. Everywhere,
// measure::known_verdict decides: here for all proposals at once, because a session may not be
// needed; in the session before each build and each run, because another process may have stored a
// verdict in the meantime.
#pragma once

#include <vector>

#include "tune/session_pool.h"
#include "tune/time_budget.h"
#include "tune/trajectory.h"
#include "tune/trial.h"

namespace tilewright::tune {

class StoredTrials : public TrialRunner {
 public:
  // `pool` outlives it. It must not move while the pool has a session of it. The task is added to
  // the store.
  static Result<StoredTrials> open(const Task& task, SessionPool& pool,
                                   const Trajectory& trajectory);

  Status run(std::span<const Proposal> proposals, const Report& report) override;

  const record::KnownVerdicts& known() const { return known_; }
  const record::Setting& setting() const { return known_.setting(); }
  // Verdicts of the task from before the trajectory began, oldest first, as training data. Traces
  // that this version cannot parse are left out.
  std::vector<PastTrial> before() const;
  size_t measured() const { return measured_; }  // verdicts that were not answered from the store

  // Compares the fastest known programs and the default schedule, interleaved, within `seconds`;
  // returns them fastest first. If the time is too short, the default schedule is left out, or no
  // finals run. If the same programs were compared before, that result is returned. `held`
  // is true if anything was run.
  struct Final {
    Proposal proposal;
    Trial trial;
    bool is_default = false;
  };
  Result<std::vector<Final>> finals(const Proposal& default_schedule, const FinalsPlan& usual,
                                    double seconds, bool* held = nullptr);
  // The last finals, fastest first; empty: there were none.
  Result<std::vector<Final>> last_finals(const Proposal& default_schedule);
  // Duration of the shortest finals, by what is known now, including opening the session if it is
  // closed.
  double shortest_finals_s() const;

 private:
  StoredTrials(Task task, SessionPool& pool, record::KnownVerdicts known)
      : task_(std::move(task)), pool_(&pool), known_(std::move(known)) {}

  Contestant contestant_of(const record::KnownVerdict& one) const;
  Result<std::vector<Final>> known_finals(std::span<const Proposal> finalists);
  Result<std::vector<Final>> compare(std::span<const Proposal> finalists, const FinalsPlan& plan);

  Task task_;
  SessionPool* pool_;
  record::KnownVerdicts known_;
  size_t measured_ = 0;
};

// Converts a stored verdict to a trial.
Trial trial_of(const record::KnownVerdict& verdict);

// The key of stored verdicts on this machine.
record::Setting setting_of(const Task& task, const measure::MeasureOptions& options);

}  // namespace tilewright::tune
