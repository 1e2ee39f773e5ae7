// TuneTally: running totals of a tuning run. A value; the caller provides the time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/verdicts.h"
#include "task/workload.h"
#include "tune/trial.h"

namespace tilewright::app {

// Failures whose texts differ only in numbers.
struct FailureGroup {
  record::VerdictKind kind = record::VerdictKind::Device;
  size_t count = 0;
  std::string example;
};

struct TuneTally {
  int64_t total = 0;  // trials; 0: no limit
  size_t measured = 0, stored = 0;
  VerdictCounts by_kind{};
  std::map<std::string, FailureGroup> failures;  // by kind and text without numbers
  int64_t scored = 0;                            // candidates scored by the search
  double search_s = 0;                           // time spent on scoring them
  // The current task.
  std::string name;
  double flop = 0;
  double peak_share = 1;  // see peak_share_of
  double best_ns = 0;     // 0: nothing timed yet

  void add(const tune::Trial& trial);
  size_t trials() const { return measured + stored; }
  double trials_per_s(double elapsed_s) const;  // measured ones; 0: not known
  double scored_per_s() const;                  // 0: not known
  double gflops() const;                        // of the current task; 0: not known
  // The share that this is of what its arithmetic can reach on a machine; 0: not known.
  double peak_reached(double peak_gflops) const;
};

// The share of the f32 peak that the arithmetic of a workload can reach, given the type of most of
// its work: 0.5 for f64, which has half the lanes; 1 for 16-bit floats, which are computed in f32;
// 0 for integers, which the peak does not apply to.
double peak_share_of(const Workload& workload);

}  // namespace tilewright::app
