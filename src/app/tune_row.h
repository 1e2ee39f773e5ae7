// TuneRow: one task in the outcome of a tuning run. Functions of all rows: the time of a model, and
// the gain over the default schedules. Values and pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/hash.h"
#include "record/attempt.h"
#include "tune/tuning.h"

namespace tilewright::app {

struct TuneRow {
  std::string name;
  Hash128 key;
  double flop = 0;
  double weight = 1;
  double peak_share = 1;  // see peak_share_of
  tune::TaskResult result;
  std::optional<record::Attempt> in_model{};  // winner of the finals inside the model

  // Latency of the winner, inside the model if measured there; 0 without a winner.
  double latency_ns() const;
  // Latency of the default schedule. Both were measured alone; inside the model the same ratio is
  // assumed. The winner's latency if the default's is not known.
  double default_ns() const;
  double gflops() const;           // of the winner; 0 without one, or if the FLOP are not known
  double against_default() const;  // how many times as fast as the default; 0 without a winner
  // The share of what its arithmetic can reach on a machine; 0: not known.
  double peak_reached(double peak_gflops) const;
  // Text form of the fastest schedule measured alone; empty without a winner.
  std::string trace_alone() const;

  // If the winner is a schedule of a similar task that the search began with. Nothing without a
  // winner, and if this run did not search the task.
  std::optional<bool> winner_was_carried() const;

  bool is_begun() const;         // it had a round, or failed
  std::string end_text() const;  // why it ended: `budget`, `not started`, `error`
};

// The time of one run of a model: the weighted sum of the tasks that have a time.
//   3 x 100 us + 1 x 100 us = 400 us
struct ModelTime {
  double sum_ns = 0;
  double default_ns = 0;  // the same tasks with their default schedules, if known
  size_t unknown = 0;     // number of tasks without a time

  double share_of(const TuneRow& row) const;  // of one of the tasks; 0 without a time
  double against_default() const;             // how many times as fast; 0 without a time
};
ModelTime model_time_of(std::span<const TuneRow> rows);

// Geometric mean of the speedups of the winners over their default schedules; 0 if fewer than two
// tasks can be compared.
double mean_gain_of(std::span<const TuneRow> rows);

}  // namespace tilewright::app
