#include "cli/measure_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

using record::VerdictKind;

void add_latency(const record::Verdict& verdict, double flop, Json* object) {
  if (is_failure(verdict.kind)) return;
  (*object)["latency_ns"] = verdict.latency_ns;
  if (verdict.kind != VerdictKind::Timed) return;
  (*object)["samples"] = verdict.samples_ns.size();
  if (flop > 0 && verdict.latency_ns > 0) (*object)["gflops"] = flop / verdict.latency_ns;
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
                 {"verdict", text_of(attempt.verdict.kind)}};
  add_latency(attempt.verdict, flop, &object);
  if (!attempt.verdict.text.empty()) object["text"] = attempt.verdict.text;
  return object;
}

double default_latency(std::span<const measure::Answer> finals, Hash128 default_program) {
  for (const measure::Answer& answer : finals) {
    if (answer.attempt.program != default_program) continue;
    if (answer.attempt.verdict.kind == VerdictKind::Timed) return answer.attempt.verdict.latency_ns;
  }
  return 0;
}

Json final_json(const measure::Answer& answer, size_t rank, double default_ns, bool is_default,
                double flop) {
  Json object = {{"rank", rank},
                 {"id", answer.attempt_id.hex()},
                 {"program", answer.attempt.program.hex()},
                 {"verdict", text_of(answer.attempt.verdict.kind)},
                 {"default", is_default},
                 {"trace", answer.attempt.trace}};
  add_latency(answer.attempt.verdict, flop, &object);
  const double latency_ns = answer.attempt.verdict.latency_ns;
  if (default_ns > 0 && latency_ns > 0) object["against_default"] = default_ns / latency_ns;
  if (!answer.attempt.verdict.text.empty()) object["text"] = answer.attempt.verdict.text;
  return {{"final", std::move(object)}};
}

std::string finals_text(std::span<const measure::Answer> finals, Hash128 default_program,
                        double flop) {
  const double default_ns = default_latency(finals, default_program);
  std::string out = fmt::format("{:>4}  {:>10}  {:>14}  {:>15}  {}\n", "rank", "latency", "rate",
                                "against default", "id");
  for (size_t k = 0; k < finals.size(); ++k) {
    const record::Attempt& attempt = finals[k].attempt;
    const bool is_default = attempt.program == default_program;
    const bool timed = attempt.verdict.kind == VerdictKind::Timed;
    const double latency_ns = attempt.verdict.latency_ns;
    const std::string ratio =
        timed && default_ns > 0 ? fmt::format("{:.2f} x", default_ns / latency_ns) : "-";
    out +=
        fmt::format("{:>4}  {:>10}  {:>14}  {:>15}  {}{}\n", k + 1,
                    timed ? duration_text(latency_ns) : std::string(text_of(attempt.verdict.kind)),
                    timed ? rate_text(flop, latency_ns) : "", ratio, short_id(finals[k].attempt_id),
                    is_default ? "  the default schedule" : "");
  }
  return out;
}

std::string failures_text(const app::MeasureTally& tally) {
  std::string out;
  for (size_t kind = 0; kind < tally.by_kind.size(); ++kind) {
    const auto verdict = static_cast<VerdictKind>(kind);
    if (!is_failure(verdict) || tally.by_kind[kind] == 0) continue;
    out += fmt::format("  {} {}\n      {}\n", tally.by_kind[kind], text_of(verdict),
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
  const double rate = elapsed_s > 0 ? static_cast<double>(tally.measured) / elapsed_s
                                    : 0;  // stored verdicts cost nothing
  if (rate > 0) line += fmt::format("  {:.1f} trials/s", rate);
  line += failed_text(tally.by_kind);
  if (rate > 0 && tally.answered() < tally.total) {
    const auto left = static_cast<double>(tally.total - tally.answered());
    line += "  left " + clock_text(left / rate);
  }
  return line;
}

}  // namespace tilewright::cli
