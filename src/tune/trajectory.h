// Trajectory: the path of a search through its space. It is determined by the tasks, options, seed
// and versions, and by the verdicts. An interrupted or repeated run therefore replays the same path
// with the verdicts of the store, measures nothing twice, and continues where it ended. Anything
// else is excluded: records that were added to the store after the trajectory began are not used
// for training.
//
// The store has a table of trajectories: the runs of each, and the budgets they completed. The
// command of a run is only for display.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "record/known_verdicts.h"
#include "record/store.h"

namespace tilewright::tune {

// The length of a trajectory: completed, or requested.
struct Budget {
  int64_t trials = 0;  // 0: no limit
  double seconds = 0;  // wall time; 0: no limit
};

struct Trajectory {
  Hash128 key;
  std::string command;  // stored with its runs
  std::string version;  // version of the program
  int64_t begin_us = 0;
  std::set<Hash128> runs{};  // earlier runs; empty: the trajectory is new
  // Budgets of earlier runs that were not interrupted: trials as counted; seconds only of a run
  // that was ended by time, since a run that ended sooner has not used its seconds.
  std::vector<Budget> completed{};

  bool is_new() const { return runs.empty(); }
  // True if an earlier run completed this budget or a larger one.
  bool has_completed(const Budget& budget) const;
  record::Viewpoint viewpoint() const { return {.begin_us = begin_us, .runs = runs}; }
};

// Finds the trajectory, or records its first run, which begins now.
Result<Trajectory> enter_trajectory(record::Store& store, Hash128 key, const std::string& command,
                                    const std::string& version);

// Records that a run completed this budget.
Status record_completed(record::Store& store, const Trajectory& trajectory, const Budget& budget);

}  // namespace tilewright::tune
