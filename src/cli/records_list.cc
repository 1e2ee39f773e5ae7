// `tilewright records ls`, `show` and `best`: the content of a store, as text and as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <variant>

#include "app/verdicts.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/records_common.h"
#include "cli/records_verbs.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

using record::Attempt;
using record::StoredTask;
using record::VerdictKind;

// The first line of a text, truncated.
std::string short_text(std::string_view text) {
  constexpr size_t kLongest = 70;
  const std::string_view line = text.substr(0, text.find('\n'));
  return fmt::format("{}{}", line.substr(0, kLongest),
                     line.size() < text.size() || line.size() > kLongest ? "..." : "");
}

// ---- ls ----

Result<ExitCode> print_tasks(const Context& context, const std::string& records) {
  const std::vector<record::TaskSummary> summaries = TRY(app::list_tasks(records));
  if (!context.json) {
    const auto row = [](auto... cells) {
      return fmt::format("{:<14}{:>9}{:>9}{:>10}{:>9}{:>12}{:>18}  {}\n", cells...);
    };
    std::string text =
        row("task", "attempts", "timed", "censored", "failed", "best", "", "workload");
    for (const record::TaskSummary& summary : summaries) {
      const std::string& by = summary.best_protocol.back_end;
      text += row(short_id(summary.task.key), summary.all(), summary.count(VerdictKind::Timed),
                  summary.count(VerdictKind::Censored), summary.failed(),
                  summary.best_ns > 0 ? duration_text(summary.best_ns) : "-",
                  rate_text(app::flop_of(summary.task), summary.best_ns),
                  fmt::format("{} {}{}", summary.task.text, short_target(summary.task),
                              by.empty() ? "" : "  back_end=" + by));
    }
    if (summaries.empty()) text = "the store is empty\n";
    print(context, text, {});
    return ExitCode::Done;
  }
  for (const record::TaskSummary& summary : summaries) {
    Json object = app::task_json(summary.task);
    Json counts = Json::object();
    for (size_t k = 0; k < summary.attempts.size(); ++k) {
      if (summary.attempts[k] == 0) continue;
      counts[std::string(app::verdict_name(static_cast<VerdictKind>(k)))] = summary.attempts[k];
    }
    object["attempts"] = std::move(counts);
    if (summary.best_ns > 0) {
      object["best_ns"] = summary.best_ns;
      object["best_protocol"] = app::protocol_name(summary.best_protocol);
      const double gflops = app::gflops_of(app::flop_of(summary.task), summary.best_ns);
      if (gflops > 0) object["gflops"] = gflops;
    }
    print(context, "", object);
  }
  return ExitCode::Done;
}

class AttemptPrinter : public app::AttemptListener {
 public:
  explicit AttemptPrinter(const Context& context) : context_(context) {}

  void on_task(const StoredTask& task) override {
    flop_ = app::flop_of(task);
    if (context_.json) return;
    print(context_, fmt::format("task {}  {}  {}\n", short_id(task.key), task.text, task.target),
          {});
  }
  void on_attempt(const StoredTask& /*task*/, const Attempt& attempt) override {
    if (context_.json) return print(context_, "", app::attempt_json(attempt));
    const record::Verdict& verdict = attempt.verdict;
    const bool has_time = app::is_valid(verdict.kind);
    print(context_,
          fmt::format("{:<14}{:<21}{:<14}{:>12}{:>18}  {:<24}{}\n", short_id(attempt.id()),
                      time_text(attempt.start_us), app::verdict_name(verdict.kind),
                      has_time ? duration_text(verdict.latency_ns) : "-",
                      rate_text(has_time ? flop_ : 0, verdict.latency_ns),
                      app::protocol_name(attempt.protocol), short_text(verdict.text)),
          {});
  }

 private:
  const Context& context_;
  double flop_ = 0;  // of the current task
};

Result<ExitCode> print_attempts(const Context& context, const app::ListOptions& options) {
  AttemptPrinter printer(context);
  TRY(app::list_attempts(options, printer));
  return ExitCode::Done;
}

// ---- show ----

struct ShowOptions {
  std::string records;
  std::string id;
};

std::string attempt_text(const app::AttemptDetails& details) {
  const auto& [attempt, task, machine, run] = details;
  const record::Verdict& verdict = attempt.verdict;
  std::string text = fmt::format("attempt   {}\n", attempt.id().hex());
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("verdict",
       fmt::format("{}{}", app::verdict_name(verdict.kind),
                   verdict.kind == VerdictKind::Censored
                       ? fmt::format(": slower than {}", duration_text(verdict.latency_ns))
                       : ""));
  if (verdict.kind == VerdictKind::Timed) {
    line("latency", fmt::format("{}  {}", duration_text(verdict.latency_ns),
                                rate_text(task ? app::flop_of(*task) : 0, verdict.latency_ns)));
  }
  if (!verdict.samples_ns.empty()) {
    const app::SampleRange range = app::range_of(verdict.samples_ns);
    line("samples", fmt::format("{} from {} to {}; {} disturbed", verdict.samples_ns.size(),
                                duration_text(range.min), duration_text(range.max),
                                attempt.conditions.disturbed));
  }
  if (!verdict.text.empty()) line("text", verdict.text);
  line("task", fmt::format("{}  {}  {}", short_id(attempt.task), task ? task->text : "not known",
                           task ? task->target : ""));
  line("machine",
       fmt::format("{}  {}", short_id(attempt.machine), machine ? machine->model : "not known"));
  line("run", fmt::format("{} of {}  {}", attempt.sequence, short_id(attempt.run),
                          run ? run->command : "not known"));
  line("protocol", app::protocol_name(attempt.protocol));
  line("code",
       fmt::format("generator {}, program {}", attempt.code_generator, attempt.program.hex()));
  line("from", time_text(attempt.start_us));
  line("cost",
       fmt::format("build {}, check {}, time {}", duration_text(attempt.conditions.build_ns),
                   duration_text(attempt.conditions.check_ns),
                   duration_text(attempt.conditions.time_ns)));
  line("machine's", fmt::format("clock {:.3f} of its best, load {:.2f}", attempt.conditions.clock,
                                attempt.conditions.load));
  if (!attempt.extra.empty()) line("extra", attempt.extra);
  return text + "trace\n" + attempt.trace;
}

Result<ExitCode> run_show(const Context& context, const ShowOptions& options) {
  const auto named = TRY(app::find_named(options.records, options.id));
  if (const Hash128* const task = std::get_if<Hash128>(&named)) {
    return print_attempts(context, {.records = options.records, .what = task->hex()});
  }
  const auto& details = std::get<app::AttemptDetails>(named);
  Json object = app::attempt_json(details.attempt);
  if (details.task) {
    object["workload"] = details.task->text;
    object["target"] = details.task->target;
  }
  if (details.machine) object["model"] = details.machine->model;
  print(context, attempt_text(details), object);
  return ExitCode::Done;
}

// ---- best ----

// The text is a file of traces: everything else is in comments.
Result<ExitCode> run_best(const Context& context, const app::BestOptions& options) {
  size_t shown = 0;
  for (const app::BestRecord& one : TRY(app::best_records(options))) {
    const double latency_ns = one.attempt.verdict.latency_ns;
    std::string text = fmt::format(
        "{}# {} {}  {}  {}  {}  attempt {}\n", shown++ == 0 ? "" : "---\n", one.task.text,
        short_target(one.task), duration_text(latency_ns), rate_text(one.flop, latency_ns),
        app::protocol_name(one.attempt.protocol), short_id(one.attempt.id()));
    for (const std::string& remark : one.remarks) text += fmt::format("# {}\n", remark);
    Json object = app::attempt_json(one.attempt);
    object["workload"] = one.task.text;
    object["target"] = one.task.target;
    object["remarks"] = one.remarks;
    const double gflops = app::gflops_of(one.flop, latency_ns);
    if (gflops > 0) object["gflops"] = gflops;
    print(context, text + one.attempt.trace, object);
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_records_ls(CLI::App& app) {
  auto options = std::make_shared<app::ListOptions>();
  app.add_option("TASK", options->what,
                 "list the attempts of an operator, a name of the suite or a task's key");
  app.add_option("--verdict", options->verdict,
                 "list only attempts with this verdict: timed, crash, ...");
  app.add_option("--count", options->count, "list at most N attempts per task (default: all)");
  declare_records_flag(app, &options->records);
  return [options](const Context& context) -> Result<ExitCode> {
    if (!options->what.empty()) return print_attempts(context, *options);
    if (!options->verdict.empty() || options->count > 0) {
      return fail(ErrorKind::BadInput, "--verdict and --count are for the attempts of a task");
    }
    return print_tasks(context, options->records);
  };
}

Action declare_records_show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option("ID", options->id, "the beginning of an attempt's id or of a task's key")
      ->required();
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_show(context, *options); };
}

Action declare_records_best(CLI::App& app) {
  auto options = std::make_shared<app::BestOptions>();
  app.add_option("TASK", options->what, "an operator, a name of the suite or a task's key")
      ->required();
  app.add_option("--count", options->count, "list the N fastest, one per program (default: 1)")
      ->check(whole_number_between(1, 1'000'000));
  app.add_option("--protocol", options->protocol,
                 "preferred protocol, such as v1;warm or v1;cold (default: any)");
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_best(context, *options); };
}

}  // namespace tilewright::cli
