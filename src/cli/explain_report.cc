#include "cli/explain_report.h"

#include <fmt/format.h>

#include "app/verdicts.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/records_common.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

std::string bytes_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024.0 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  if (bytes < 1024.0 * 1024 * 1024) return fmt::format("{:.1f} MiB", bytes / 1024 / 1024);
  return fmt::format("{:.2f} GiB", bytes / 1024 / 1024 / 1024);
}

std::string flop_text(double flop) {
  if (flop < 1e6) return fmt::format("{:.0f} FLOP", flop);
  return flop < 1e9 ? fmt::format("{:.1f} MFLOP", flop / 1e6)
                    : fmt::format("{:.2f} GFLOP", flop / 1e9);
}

std::string verdict_text(const app::ExplainedAttempt& explained) {
  const record::Verdict& verdict = explained.attempt.verdict;
  switch (verdict.kind) {
    case record::VerdictKind::Timed:
      return "timed: " + duration_text(verdict.latency_ns);
    case record::VerdictKind::Censored:
      return fmt::format("censored: {}slower than {}", verdict.text.empty() ? "correct, but " : "",
                         duration_text(verdict.latency_ns));
    default:
      return std::string(explained.verdict);
  }
}

std::string attempt_text(const app::ExplainedAttempt& explained) {
  const record::Attempt& attempt = explained.attempt;
  const record::Verdict& verdict = attempt.verdict;
  const record::Conditions& conditions = attempt.conditions;
  std::string text = fmt::format("attempt {}\n{}\n", attempt.id().hex(), verdict_text(explained));
  if (!verdict.text.empty()) text += fmt::format("  {}\n", verdict.text);
  text += fmt::format("  {}\n", advice_on(verdict.kind));
  if (!verdict.samples_ns.empty()) {
    const app::SampleRange range = app::range_of(verdict.samples_ns);
    text += fmt::format("  {}: min {}, median {}, max {}\n",
                        counted(verdict.samples_ns.size(), "sample"), duration_text(range.min),
                        duration_text(range.median), duration_text(range.max));
  }
  text += fmt::format("measured {} UTC on {}{}\n", time_text(attempt.start_us),
                      explained.machine.empty() ? "an unknown machine" : explained.machine,
                      explained.is_this_machine ? " (this machine)" : "");
  text += fmt::format("protocol {}, code generator {}", explained.protocol, attempt.code_generator);
  text += explained.run.empty() ? "\n" : fmt::format(", by `{}`\n", explained.run);
  text += fmt::format("built in {} of CPU time, checked in {}, timed in {}; ",
                      duration_text(conditions.build_ns), duration_text(conditions.check_ns),
                      duration_text(conditions.time_ns));
  text +=
      fmt::format("{} repeated, clock {:.0f} %, load {:.2f}\n",
                  counted(conditions.disturbed, "sample"), 100 * conditions.clock, conditions.load);
  return text;
}

std::string traffic_text(const app::ExplainedProgram& program) {
  const feature::Traffic& traffic = program.traffic;
  std::string text =
      fmt::format("\n{} in the workload, {} computed; about {} instructions of code\n",
                  flop_text(traffic.flop), flop_text(traffic.computed_flop), program.instructions);
  const std::string caches =
      program.levels_of.empty() ? "" : fmt::format(" (caches of {})", program.levels_of);
  text += fmt::format("estimated traffic{}; compulsory: {}\n", caches,
                      bytes_text(traffic.compulsory_bytes));
  text += fmt::format("  {:<22} {:>12} {:>12} {:>10}\n", "between", "holds", "moved", "FLOP/byte");
  for (const feature::MemoryLevel& level : traffic.levels) {
    text +=
        fmt::format("  {:<22} {:>12} {:>12} {:>10}\n", level.name + " and " + level.beyond,
                    bytes_text(static_cast<double>(level.capacity)), bytes_text(level.bytes),
                    level.bytes > 0 ? fmt::format("{:.2f}", program.flop_per_byte(level)) : "-");
  }
  if (!traffic.stays_in.empty()) {
    text += fmt::format("  all touched data stays in {} between calls\n", traffic.stays_in);
  }
  text += fmt::format("  {:<14} {:>10}", "buffer", "size");
  for (const feature::MemoryLevel& level : traffic.levels) {
    text += fmt::format(" {:>11}", "-" + level.beyond);
  }
  for (const feature::BufferTraffic& buffer : traffic.buffers) {
    text += fmt::format("\n  {:<14} {:>10}", buffer.name.text(), bytes_text(buffer.size_bytes));
    for (const double bytes : buffer.bytes) text += fmt::format(" {:>11}", bytes_text(bytes));
  }
  return text + "\n";
}

std::string share_text(const feature::Share& share, bool arithmetic) {
  const char* unit = arithmetic ? "GFLOP/s" : "GB/s";
  std::string text = arithmetic ? fmt::format("{:.1f} {}", share.reached, unit)
                                : fmt::format("{}: {:.1f} {}", share.what, share.reached, unit);
  if (share.ceiling > 0) {
    text += fmt::format(", {:.1f} % of {:.1f} {}", 100 * share.share, share.ceiling,
                        arithmetic ? "GFLOP/s (FMA peak)" : unit);
  }
  return text;
}

std::string program_text(const app::Explanation& explanation) {
  const app::ExplainedProgram& program = *explanation.program;
  std::string text = "\n" + program.loops + traffic_text(program);
  if (!program.shares.empty()) {
    const bool bound = explanation.attempt &&
                       explanation.attempt->attempt.verdict.kind == record::VerdictKind::Censored;
    text += fmt::format("\nreaches {}{}\n", bound ? "less than " : "",
                        share_text(program.shares[0], true));
    for (size_t k = 1; k < program.shares.size(); ++k) {
      text += fmt::format("  {}\n", share_text(program.shares[k], false));
    }
  }
  if (!explanation.no_peak.empty()) text += explanation.no_peak + "\n";
  text += "\nlikely limits:\n";
  for (const std::string& limit : program.limits) text += "  " + limit + "\n";
  return text;
}

Json program_json(const app::ExplainedProgram& program) {
  Json levels = Json::array();
  for (const feature::MemoryLevel& level : program.traffic.levels) {
    levels.push_back({{"level", level.name},
                      {"beyond", level.beyond},
                      {"capacity_bytes", level.capacity},
                      {"moved_bytes", level.bytes}});
    if (level.bytes > 0) levels.back()["flop_per_byte"] = program.flop_per_byte(level);
  }
  Json buffers = Json::array();
  for (const feature::BufferTraffic& buffer : program.traffic.buffers) {
    buffers.push_back({{"buffer", buffer.name.text()},
                       {"size_bytes", buffer.size_bytes},
                       {"argument", buffer.is_argument},
                       {"moved_bytes", buffer.bytes}});
  }
  Json shares = Json::array();
  for (size_t k = 0; k < program.shares.size(); ++k) {
    const feature::Share& share = program.shares[k];
    Json row = {{"what", share.what}, {k == 0 ? "gflops" : "gb_per_s", share.reached}};
    if (share.ceiling > 0) {
      row["ceiling"] = share.ceiling;
      row["share"] = share.share;
    }
    shares.push_back(std::move(row));
  }
  const feature::NestFacts& facts = program.facts;
  return {{"loops", program.loops},
          {"instructions", program.instructions},
          {"flop", program.traffic.flop},
          {"computed_flop", program.traffic.computed_flop},
          {"compulsory_bytes", program.traffic.compulsory_bytes},
          {"stays_in", program.traffic.stays_in},
          {"levels", std::move(levels)},
          {"levels_of", program.levels_of},
          {"buffers", std::move(buffers)},
          {"hottest", facts.hottest.text()},
          {"vectorized", facts.vectorized},
          {"sums", facts.sums},
          {"tasks", facts.tasks},
          {"shares", std::move(shares)},
          {"limits", program.limits}};
}

}  // namespace

std::string_view advice_on(record::VerdictKind kind) {
  using record::VerdictKind;
  switch (kind) {
    case VerdictKind::Timed:
      return "Its output was checked before it was timed.";
    case VerdictKind::Censored:
      return "It is clearly slower than the best, so it was not sampled. `tilewright replay` "
             "checks "
             "its output and times it fully.";
    case VerdictKind::Illegal:
      return "A step of the trace does not apply to this workload; the text says which and what "
             "would be legal.";
    case VerdictKind::Lower:
      return "The schedule is legal, but lowering failed. `tilewright lower` with its trace shows "
             "the passes before the failure.";
    case VerdictKind::Build:
      return "Code generation failed or crashed; the text names the last pass. "
             "`tilewright lower --llvm` with its trace shows its input.";
    case VerdictKind::BuildTimeout:
      return "Compiling took too long: its code is too large. Unroll less, or use smaller tiles.";
    case VerdictKind::Crash:
      return "The kernel crashed or wrote out of bounds. This is a bug in Tilewright, not in the "
             "schedule: please report it with its trace.";
    case VerdictKind::RunTimeout:
      return "One call took longer than a multiple of the best one known. `tilewright replay` "
             "gives it more time.";
    case VerdictKind::WrongResult:
      return "Its output differs from the definition. This is a bug in Tilewright, not in the "
             "schedule: please report it with its trace.";
    case VerdictKind::Device:
      return "The machine or a worker failed, not the candidate: it is measured again on request.";
  }
  return "";
}

std::string explanation_text(const app::Explanation& explanation) {
  std::string text;
  if (explanation.attempt) text += attempt_text(*explanation.attempt);
  text += fmt::format("{} for {}\n", explanation.what, explanation.target);
  if (!explanation.no_program.empty()) text += explanation.no_program + "\n";
  if (explanation.program) text += program_text(explanation);
  return text;
}

Json explanation_json(const app::Explanation& explanation) {
  Json json = {{"workload", explanation.what}, {"target", explanation.target}};
  if (explanation.attempt) {
    const app::ExplainedAttempt& explained = *explanation.attempt;
    json["attempt"] = app::attempt_json(explained.attempt);
    json["verdict"] = explained.verdict;
    json["advice"] = advice_on(explained.attempt.verdict.kind);
    json["machine"] = explained.machine;
    json["this_machine"] = explained.is_this_machine;
  }
  if (explanation.program) json.update(program_json(*explanation.program));
  if (!explanation.no_program.empty()) json["no_program"] = explanation.no_program;
  if (!explanation.no_peak.empty()) json["no_peak"] = explanation.no_peak;
  return json;
}

}  // namespace tilewright::cli
