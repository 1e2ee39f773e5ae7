#include "cli/measure_tally.h"

#include <fmt/format.h>

#include "cli/units.h"

namespace tilewright::cli {

void MeasureTally::add(const measure::Answer& answer) {
  const record::Verdict& verdict = answer.attempt.verdict;
  (answer.stored ? stored : measured) += 1;
  const auto kind = static_cast<size_t>(verdict.kind);
  if (by_kind[kind]++ == 0 && is_failure(verdict.kind)) {
    example[kind] = fmt::format("candidate {}: {}", answer.candidate, verdict.text);
  }
  if (verdict.kind != record::VerdictKind::Timed) return;
  if (best_ns > 0 && verdict.latency_ns >= best_ns) return;
  best_ns = verdict.latency_ns;
  best_id = answer.attempt_id;
}

std::string progress_line(const MeasureTally& tally, double flop, double elapsed_s) {
  std::string line = fmt::format("{}/{}", tally.answered(), tally.total);
  if (tally.best_ns > 0) {
    line += "  best " + duration_text(tally.best_ns);
    if (flop > 0) line += " " + rate_text(flop, tally.best_ns);
  }
  const double rate = elapsed_s > 0 ? static_cast<double>(tally.measured) / elapsed_s
                                    : 0;  // what was stored is free
  if (rate > 0) line += fmt::format("  {:.1f} trials/s", rate);
  line += failed_text(tally.by_kind);
  if (rate > 0 && tally.answered() < tally.total) {
    const auto left = static_cast<double>(tally.total - tally.answered());
    line += "  left " + clock_text(left / rate);
  }
  return line;
}

}  // namespace tilewright::cli
