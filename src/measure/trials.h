// Trials: the loop of Measurer::measure. Candidates are built, checked and timed through the worker
// pool. If builders and kernel share CPUs, two phases alternate:
//
//   building   up to kBuiltAhead candidates are built; nothing is timed
//   running    they are timed one by one; only builders on unused CPUs continue
//
// A builder on a CPU that kernels do not use builds in both phases.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurer.h"
#include "measure/worker_pool.h"

namespace tilewright::measure {

inline constexpr size_t kBuiltAhead = 16;

// A candidate in progress.
struct PendingTrial {
  size_t candidate = 0;
  std::string trace;  // text form
  Hash128 program;
  int64_t start_us = 0;
  BuiltKernel kernel;
  double build_ns = 0;
  double load = 0;
  int kills = 0;  // workers killed externally while processing it
};

class Trials {
 public:
  // All arguments outlive it. `incumbent_ns` is updated.
  Trials(WorkerPool& pool, const MeasureOptions& options, Shares& shares, double& incumbent_ns)
      : pool_(pool), options_(options), shares_(shares), incumbent_ns_(incumbent_ns) {}

  void add(PendingTrial trial) { pending_.push_back(std::move(trial)); }
  void add_finished(Measurement measurement) { finish(std::move(measurement)); }
  Status run(const Measurer::Report& report, const Measurer::Wanted& wanted = {});

 private:
  enum class Turn { Building, Running };

  bool done() const;
  bool any_building(bool only_exclusive) const;
  void change_turn();
  Status start_builds(const Measurer::Wanted& wanted);
  Status start_run(const Measurer::Wanted& wanted);
  // Removes unwanted candidates from the front.
  static Status drop_unwanted(std::deque<PendingTrial>& queue, const Measurer::Wanted& wanted);
  Status collect_builds();
  Status collect_runs();
  Status report_finished(const Measurer::Report& report, bool all);
  void account();
  void finish(Measurement measurement);
  void finish_failed(const PendingTrial& trial, record::VerdictKind kind, std::string text);

  WorkerPool& pool_;
  const MeasureOptions& options_;
  Shares& shares_;
  double& incumbent_ns_;
  Turn turn_ = Turn::Building;
  bool overlap_ = false;  // some builder has a CPU that kernels do not use
  std::deque<PendingTrial> pending_, built_;
  std::vector<std::optional<PendingTrial>> building_;  // per builder
  std::optional<PendingTrial> running_;
  std::vector<Measurement> finished_;  // not yet reported
  int64_t oldest_ns_ = 0;              // time of the oldest of those
  int64_t accounted_ns_ = 0;
};

// The limits of one call: see MeasureOptions.
RunRequest request_for(const MeasureOptions& options, double incumbent_ns);

}  // namespace tilewright::measure
