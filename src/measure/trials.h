// Trials: the loop of Measurer::measure. Candidates are built, checked and timed through the pool,
// in turns where builders and kernel share cpus:
//
//   building   up to kBuiltAhead candidates are built; nothing is timed
//   running    they are timed one after the other; only builders on free cpus go on
//
// Where a builder has a cpu that kernels leave alone, it builds all the time.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurer.h"
#include "measure/worker_pool.h"

namespace tilewright::measure {

inline constexpr size_t kBuiltAhead = 16;

// A candidate on its way.
struct PendingTrial {
  size_t candidate = 0;
  std::string trace;  // text form
  Hash128 program;
  int64_t start_us = 0;
  BuiltKernel kernel;
  double build_ns = 0;
  double load = 0;
  int kills = 0;  // workers that were killed from outside while at it
};

class Trials {
 public:
  // All outlive it. `incumbent_ns` is kept up to date.
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
  // Takes those off the front that are not wanted.
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
  bool overlap_ = false;  // some builder has a cpu of its own
  std::deque<PendingTrial> pending_, built_;
  std::vector<std::optional<PendingTrial>> building_;  // by builder
  std::optional<PendingTrial> running_;
  std::vector<Measurement> finished_;  // not yet reported
  int64_t oldest_ns_ = 0;              // of those
  int64_t accounted_ns_ = 0;
};

// The limits of one call: see MeasureOptions.
RunRequest request_for(const MeasureOptions& options, double incumbent_ns);

}  // namespace tilewright::measure
