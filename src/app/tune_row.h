// TuneRow: one task of a tuning run's outcome, and what rows come to together: the time of a model,
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
  double peak_share = 1;  // peak_share_of
  tune::TaskResult result;
  std::optional<record::Attempt> in_model{};  // the winner inside the model

  // Of the winner: inside the model where that is known. 0: there is none.
  double latency_ns() const;
  // Of the default schedule, an estimate: as many times slower than the winner inside a model as
  // both are apart from it. The winner's latency where the default's is not known.
  double default_ns() const;
};

// Of one run of a model: tasks by weight, those without any time left out.
//   3 x 100 us + 1 x 100 us = 400 us
struct ModelTime {
  double sum_ns = 0;
  double default_ns = 0;  // the same tasks by their default schedules, where those are known
  size_t unknown = 0;     // tasks without a time
};
ModelTime model_time_of(std::span<const TuneRow> rows);

// Geometric mean of how many times faster than their default schedules the winners are. 0: fewer
// than two tasks can be compared.
double mean_gain_of(std::span<const TuneRow> rows);

}  // namespace tilewright::app
