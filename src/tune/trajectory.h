// Trajectory: the path of a search through its space. It follows from what was asked for (tasks,
// options, seed, versions) and from the verdicts; so a run that was cut off, or is asked for again,
// walks the same path with the verdicts of the store, measures nothing it has measured, and goes on
// where it ended. What does not follow from that stays outside: records that came into the store
// after the trajectory began are not learnt from.
//
// Runs of a trajectory have its mark in their command: that is how the next one finds the first.
// One that was walked to the end of its budget has the mark and that budget in a run of its own.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "record/store.h"
#include "tune/trial.h"

namespace tilewright::tune {

// How far a trajectory was, or is to be, walked.
struct Budget {
  int64_t trials = 0;  // 0: not limited
  double seconds = 0;  // of time; 0: not limited
};

struct Trajectory {
  Hash128 key;
  std::string command;  // with the mark, for the runs that are recorded
  std::string version;  // of the program
  int64_t begin_us = 0;
  std::set<Hash128> runs{};      // earlier ones; empty: it is new
  std::vector<Budget> walked{};  // to an end, earlier; trials as counted

  bool is_new() const { return runs.empty(); }
  // Whether one that ended was walked as far as this one is to be.
  bool was_walked(const Budget& walk) const;
};

// Finds the trajectory's first run, or records one that begins now.
Result<Trajectory> enter_trajectory(record::Store& store, Hash128 key, const std::string& command,
                                    const std::string& version);

// Notes that it was walked so far, by a run that ended by itself.
Status record_completed(record::Store& store, const Trajectory& trajectory, const Budget& walk);

// What a store knows of a task in one setting, as a trajectory sees it.
struct KnownTrials {
  struct OfProgram {
    PastTrial trial;
    int64_t end_us = 0;
    double build_s = 0, check_s = 0;  // that building and checking took
    uint8_t rank = 0;                 // how near it is to the trajectory
  };
  // By program. Of several verdicts the trajectory's own first one counts; else the last from
  // before it began; else the first from afterwards: none that is added later changes it.
  std::unordered_map<Hash128, OfProgram> trials;

  std::vector<PastTrial> before() const;  // the trajectory began, oldest first: to learn from
  std::vector<const OfProgram*> fastest(size_t count) const;
};

Result<KnownTrials> load_known(record::Store& store, const record::Setting& setting,
                               const Trajectory& trajectory);

}  // namespace tilewright::tune
