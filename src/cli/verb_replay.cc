// `tilewright replay ID`: app::replay with flags. Exit code 0 if the verdicts agree, else 3.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/replay.h"
#include "app/verdicts.h"
#include "base/json.h"
#include "base/program_folder.h"
#include "cli/interrupt.h"
#include "cli/measure_report.h"
#include "cli/records_common.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

using record::Verdict;
using record::VerdictKind;

std::string verdict_text(const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::Timed:
      return duration_text(verdict.latency_ns);
    case VerdictKind::Censored:
      return "censored above " + duration_text(verdict.latency_ns);
    default:
      return std::string(app::verdict_name(verdict.kind)) +
             (verdict.text.empty() ? "" : " (" + verdict.text + ")");
  }
}

std::string text_of(const app::ReplayOutcome& outcome) {
  const Verdict& written = outcome.written.verdict;
  const Verdict& now = outcome.now->attempt.verdict;
  std::string text =
      fmt::format("{}: written: {}; now: {}", outcome.agrees ? "agrees" : "disagrees",
                  verdict_text(written), verdict_text(now));
  if (outcome.change) text += fmt::format(" ({:+.1f} %)", 100 * *outcome.change);
  text += "\n";
  for (const std::string& remark : outcome.remarks) {
    text += fmt::format("{}: the times are only roughly comparable\n", remark);
  }
  return text + fmt::format("stored as {}\n", short_id(outcome.now->attempt_id));
}

Json written_json(const app::ReplayOutcome& outcome) {
  const Verdict& written = outcome.written.verdict;
  Json json = {{"id", outcome.written.id().hex()}, {"verdict", app::verdict_name(written.kind)}};
  if (app::is_valid(written.kind)) json["latency_ns"] = written.latency_ns;
  if (!written.text.empty()) json["text"] = written.text;
  return json;
}

Json json_of(const app::ReplayOutcome& outcome) {
  Json again = answer_json(*outcome.now, outcome.flop);
  again.erase("candidate");
  again.erase("stored");
  return {{"agrees", outcome.agrees},
          {"interrupted", false},
          {"protocol", app::protocol_name(outcome.now->attempt.protocol)},
          {"written", written_json(outcome)},
          {"now", std::move(again)},
          {"remarks", outcome.remarks}};
}

Result<ExitCode> run_replay(const Context& context, app::ReplayOptions options) {
  options.workers = TRY(program_folder());
  const Interrupt interrupt;
  const app::ReplayOutcome outcome = TRY(app::replay(options, interrupt.token()));
  if (!outcome.now) {
    print(context,
          fmt::format("interrupted before it was measured again: written: {}\n",
                      verdict_text(outcome.written.verdict)),
          {{"interrupted", true}, {"written", written_json(outcome)}});
    return ExitCode::Interrupted;
  }
  print(context, text_of(outcome), json_of(outcome));
  return outcome.agrees ? ExitCode::Done : ExitCode::NothingValid;
}

}  // namespace

Action declare_replay(CLI::App& app) {
  auto options = std::make_shared<app::ReplayOptions>();
  app.add_option("ID", options->id, "the id of an attempt, or its first digits")->required();
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_replay(context, *options); };
}

}  // namespace tilewright::cli
