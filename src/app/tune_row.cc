#include "app/tune_row.h"

#include <cmath>

namespace tilewright::app {
namespace {

// Measured alone, not inside the model.
double latency_alone(const TuneRow& row) {
  const tune::Trial* const winner = row.result.winning_trial();
  return winner != nullptr ? winner->latency_ns : 0;
}

}  // namespace

double TuneRow::latency_ns() const {
  return in_model ? in_model->verdict.latency_ns : latency_alone(*this);
}

double TuneRow::default_ns() const {
  const double known = result.default_ns(), alone = latency_alone(*this);
  return known > 0 && alone > 0 ? latency_ns() * known / alone : latency_ns();
}

std::string TuneRow::trace_alone() const {
  const auto* const winner = result.winner();
  return winner != nullptr ? schedule::to_text(winner->trace) : std::string();
}

ModelTime model_time_of(std::span<const TuneRow> rows) {
  ModelTime time;
  for (const TuneRow& row : rows) {
    time.sum_ns += row.weight * row.latency_ns();
    time.default_ns += row.weight * row.default_ns();
    time.unknown += row.latency_ns() > 0 ? 0 : 1;
  }
  return time;
}

double mean_gain_of(std::span<const TuneRow> rows) {
  double log_sum = 0;
  size_t compared = 0;
  for (const TuneRow& row : rows) {
    const double alone = latency_alone(row), default_ns = row.result.default_ns();
    if (row.result.winning_trial() == nullptr || default_ns <= 0) continue;
    log_sum += std::log(default_ns / alone);
    ++compared;
  }
  return compared > 1 ? std::exp(log_sum / static_cast<double>(compared)) : 0;
}

}  // namespace tilewright::app
