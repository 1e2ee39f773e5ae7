#include "app/tune_row.h"

#include <cmath>

#include "app/verdicts.h"

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

double TuneRow::gflops() const { return gflops_of(flop, latency_ns()); }

double TuneRow::against_default() const {
  return latency_ns() > 0 ? default_ns() / latency_ns() : 0;
}

double TuneRow::peak_reached(double peak_gflops) const {
  const double peak = peak_gflops * peak_share;
  return peak > 0 ? gflops() / peak : 0;
}

std::optional<bool> TuneRow::winner_was_carried() const {
  if (!result.searched) return std::nullopt;
  if (in_model) return result.began_with(in_model->program);
  const auto* const winner = result.winner();
  return winner != nullptr ? std::optional(result.began_with(winner->program)) : std::nullopt;
}

bool TuneRow::is_begun() const {
  return result.rounds > 0 || result.trials > 0 || !result.problem.empty();
}

std::string TuneRow::end_text() const {
  if (!result.problem.empty()) return "error";
  if (!is_begun()) return "not started";
  return std::string(result.end == tune::TaskEnd::Open ? "budget" : text_of(result.end));
}

std::string TuneRow::trace_alone() const {
  const auto* const winner = result.winner();
  return winner != nullptr ? schedule::to_text(winner->trace) : std::string();
}

double ModelTime::share_of(const TuneRow& row) const {
  return sum_ns > 0 ? row.weight * row.latency_ns() / sum_ns : 0;
}

double ModelTime::against_default() const { return sum_ns > 0 ? default_ns / sum_ns : 0; }

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
