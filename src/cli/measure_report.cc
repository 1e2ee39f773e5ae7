#include "cli/measure_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

using record::VerdictKind;

void add_latency(const record::Verdict& verdict, double flop, Json* object) {
  if (!app::is_valid(verdict.kind)) return;
  (*object)["latency_ns"] = verdict.latency_ns;
  if (verdict.kind != VerdictKind::Timed) return;
  (*object)["samples"] = verdict.samples_ns.size();
  const double gflops = app::gflops_of(flop, verdict.latency_ns);
  if (gflops > 0) (*object)["gflops"] = gflops;
}

// The first line, and the others indented below it.
std::string indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "      ";
  }
  return out;
}

}  // namespace

Json answer_json(const measure::Answer& answer, double flop) {
  const record::Attempt& attempt = answer.attempt;
  Json object = {{"candidate", answer.candidate},
                 {"id", answer.attempt_id.hex()},
                 {"stored", answer.stored},
                 {"program", attempt.program.hex()},
                 {"verdict", app::verdict_name(attempt.verdict.kind)}};
  add_latency(attempt.verdict, flop, &object);
  if (!attempt.verdict.text.empty()) object["text"] = attempt.verdict.text;
  return object;
}

Json final_json(const app::MeasureFinal& one, size_t rank, double flop) {
  const record::Attempt& attempt = one.answer.attempt;
  Json object = {{"rank", rank},
                 {"id", one.answer.attempt_id.hex()},
                 {"program", attempt.program.hex()},
                 {"verdict", app::verdict_name(attempt.verdict.kind)},
                 {"default", one.is_default},
                 {"trace", attempt.trace}};
  add_latency(attempt.verdict, flop, &object);
  if (one.against_default > 0) object["against_default"] = one.against_default;
  if (!attempt.verdict.text.empty()) object["text"] = attempt.verdict.text;
  return {{"final", std::move(object)}};
}

std::string finals_text(std::span<const app::MeasureFinal> finals, double flop) {
  std::string out = fmt::format("{:>4}  {:>10}  {:>14}  {:>15}  {}\n", "rank", "latency", "rate",
                                "against default", "id");
  for (size_t k = 0; k < finals.size(); ++k) {
    const app::MeasureFinal& one = finals[k];
    const record::Verdict& verdict = one.answer.attempt.verdict;
    const std::string ratio =
        one.against_default > 0 ? fmt::format("{:.2f} x", one.against_default) : "-";
    out += fmt::format("{:>4}  {:>10}  {:>14}  {:>15}  {}{}\n", k + 1,
                       one.is_timed() ? duration_text(verdict.latency_ns)
                                      : std::string(app::verdict_name(verdict.kind)),
                       one.is_timed() ? rate_text(flop, verdict.latency_ns) : "", ratio,
                       short_id(one.answer.attempt_id),
                       one.is_default ? "  the default schedule" : "");
  }
  return out;
}

std::string failures_text(const app::MeasureTally& tally) {
  std::string out;
  for (size_t kind = 0; kind < tally.by_kind.size(); ++kind) {
    const auto verdict = static_cast<VerdictKind>(kind);
    if (app::is_valid(verdict) || tally.by_kind[kind] == 0) continue;
    out += fmt::format("  {} {}\n      {}\n", tally.by_kind[kind], app::verdict_name(verdict),
                       indented(tally.example[kind]));
  }
  return out.empty() ? out : "failed:\n" + out;
}

std::string progress_line(const app::MeasureTally& tally, double flop, double elapsed_s) {
  std::string line = fmt::format("{}/{}", tally.answered(), tally.total);
  if (tally.best_ns > 0) {
    line += "  best " + duration_text(tally.best_ns);
    if (flop > 0) line += " " + rate_text(flop, tally.best_ns);
  }
  const double rate = tally.trials_per_s(elapsed_s);
  if (rate > 0) line += fmt::format("  {:.1f} trials/s", rate);
  line += failed_text(tally.by_kind);
  const double left_s = tally.left_s(elapsed_s);
  if (left_s > 0) line += "  left " + clock_text(left_s);
  return line;
}

}  // namespace tilewright::cli
