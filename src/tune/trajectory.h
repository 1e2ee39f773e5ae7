// Trajectory: the path of a search through its space. It follows from what was asked for (tasks,
// options, seed, versions) and from the verdicts; so a run that was cut off, or is asked for again,
// walks the same path with the verdicts of the store, measures nothing it has measured, and goes on
// where it ended. What does not follow from that stays outside: records that came into the store
// after the trajectory began are not learnt from.
//
// The store has a table of trajectories: which runs are of one, and which budgets they completed.
// The command of a run is text for people.
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

// How far a trajectory was, or is to be, walked.
struct Budget {
  int64_t trials = 0;  // 0: not limited
  double seconds = 0;  // of time; 0: not limited
};

struct Trajectory {
  Hash128 key;
  std::string command;  // of the runs that are recorded
  std::string version;  // of the program
  int64_t begin_us = 0;
  std::set<Hash128> runs{};         // earlier ones; empty: it is new
  std::vector<Budget> completed{};  // by earlier ones that ended by themselves; trials as counted

  bool is_new() const { return runs.empty(); }
  // Whether an earlier run completed this budget or a larger one.
  bool has_completed(const Budget& budget) const;
  record::Viewpoint viewpoint() const { return {.begin_us = begin_us, .runs = runs}; }
};

// Finds the trajectory, or records a first run of it that begins now.
Result<Trajectory> enter_trajectory(record::Store& store, Hash128 key, const std::string& command,
                                    const std::string& version);

// Records that a run of it ended by itself after this budget.
Status record_completed(record::Store& store, const Trajectory& trajectory, const Budget& budget);

}  // namespace tilewright::tune
