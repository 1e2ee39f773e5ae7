// What `tilewright tune` prints, as text for people and as JSON. Pure functions and values; the
// clock is the caller's.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cli/verdict_counts.h"
#include "tune/tuning.h"

namespace tilewright::cli {

// Failures that differ in numbers only are one.
struct FailureGroup {
  record::VerdictKind kind = record::VerdictKind::Device;
  size_t count = 0;
  std::string example;
};

// What a run has found so far.
struct TuneTally {
  int64_t total = 0;  // trials; 0: not limited
  size_t measured = 0, stored = 0;
  VerdictCounts by_kind{};
  std::map<std::string, FailureGroup> failures;  // by kind and text without numbers
  int64_t scored = 0;                            // candidates the search looked at
  double search_s = 0;                           // that this took
  // Of the task at hand.
  std::string name;
  double flop = 0;
  double peak_share = 1;  // see TuneRow
  double best_ns = 0;

  void add(const tune::Trial& trial);
  size_t trials() const { return measured + stored; }
};

// [=====>    ] 120/200  C2D2 412.3 us 893.1 GFLOP/s 78 % of peak  31.2 trials/s  41,200
// candidates/s  failed: 2 build  left 0:06
std::string tune_progress_line(const TuneTally& tally, double peak_gflops, double elapsed_s,
                               double left_s, bool bar);

// One task of the table at the end.
struct TuneRow {
  std::string name;
  Hash128 key;
  double flop = 0;
  double weight = 1;
  double peak_share = 1;  // of the f32 peak that its arithmetic could have; 0: not of that kind
  tune::TaskResult result;
  std::optional<record::Attempt> in_model{};  // the winner between the other kernels of a model
};

// By the type in which most of the work is done: lanes of f64 are half as many, halves are computed
// in f32, and integers have no multiply-add that the peak is of.
double peak_share_of(const Workload& workload);

// Of the tasks that were begun.
std::string tune_table(std::span<const TuneRow> rows, double peak_gflops);
std::string not_begun_text(std::span<const TuneRow> rows);  // the others; empty: there are none
std::string failures_text(const TuneTally& tally);
// `2.31 x the default schedule (951 us)`, what is known of it.
std::string winners_text(std::span<const TuneRow> rows);

// Why there is no winner at all: for want of time, or of anything valid.
std::string no_winner_text(const TuneTally& tally);

// `scores of xgboost in the last round (C2D2, 64 programs): rank correlation 0.52, ...`.
std::string quality_text(const std::string& name, const tune::RoundReport& report);

Json round_json(const std::string& name, const tune::RoundReport& report,
                std::span<const tune::Trial> trials);
Json row_json(const TuneRow& row);

}  // namespace tilewright::cli
