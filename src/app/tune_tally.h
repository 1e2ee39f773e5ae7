// TuneTally: what a tuning run has found so far. A value; the clock is the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/verdict_counts.h"
#include "task/workload.h"
#include "tune/trial.h"

namespace tilewright::app {

// Failures whose texts differ in numbers only.
struct FailureGroup {
  record::VerdictKind kind = record::VerdictKind::Device;
  size_t count = 0;
  std::string example;
};

struct TuneTally {
  int64_t total = 0;  // trials; 0: not limited
  size_t measured = 0, stored = 0;
  VerdictCounts by_kind{};
  std::map<std::string, FailureGroup> failures;  // by kind and text without numbers
  int64_t scored = 0;                            // candidates that the search scored
  double search_s = 0;                           // that this took
  // Of the task at hand.
  std::string name;
  double flop = 0;
  double peak_share = 1;  // peak_share_of
  double best_ns = 0;     // 0: nothing timed yet

  void add(const tune::Trial& trial);
  size_t trials() const { return measured + stored; }
};

// The share of the f32 peak that a workload's arithmetic can reach, by the type of most of its
// work: f64 has half the lanes, 16-bit floats are computed in f32, and integers have no
// multiply-add that the peak speaks of (0).
double peak_share_of(const Workload& workload);

}  // namespace tilewright::app
