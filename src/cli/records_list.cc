// `tilewright records ls`, `show` and `best`: what is in a store, for people and as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/json.h"
#include "cli/records_common.h"
#include "cli/records_verbs.h"
#include "cli/units.h"
#include "target/machine.h"

namespace tilewright::cli {
namespace {

using record::Attempt;
using record::StoredTask;
using record::VerdictKind;

Result<record::Store> open_reader(const std::string& path) {
  return record::Store::open(path, record::OpenAs::Reader);
}

// The first line of a text, cut where it gets long.
std::string short_text(std::string_view text) {
  constexpr size_t kLongest = 70;
  const std::string_view line = text.substr(0, text.find('\n'));
  return fmt::format("{}{}", line.substr(0, kLongest),
                     line.size() < text.size() || line.size() > kLongest ? "..." : "");
}

// ---- ls ----

struct ListOptions {
  std::string records;
  std::string what;
  std::string verdict;
  size_t count = 0;  // 0: all
};

Result<ExitCode> list_tasks(const Context& context, record::Store& store) {
  const std::vector<record::TaskSummary> summaries = TRY(store.summaries());
  if (!context.json) {
    const auto row = [](auto... cells) {
      return fmt::format("{:<14}{:>9}{:>9}{:>10}{:>9}{:>12}{:>18}  {}\n", cells...);
    };
    std::string text =
        row("task", "attempts", "timed", "censored", "failed", "best", "", "workload");
    for (const record::TaskSummary& summary : summaries) {
      int64_t all = 0;
      for (const int64_t count : summary.attempts) all += count;
      const int64_t timed = summary.attempts[static_cast<size_t>(VerdictKind::Timed)];
      const int64_t censored = summary.attempts[static_cast<size_t>(VerdictKind::Censored)];
      text += row(short_id(summary.task.key), all, timed, censored, all - timed - censored,
                  summary.best_ns > 0 ? duration_text(summary.best_ns) : "-",
                  rate_text(app::flop_of(summary.task), summary.best_ns),
                  fmt::format("{} {}", summary.task.text, short_target(summary.task)));
    }
    if (summaries.empty()) text = "the store is empty\n";
    print(context, text, {});
    return ExitCode::Done;
  }
  for (const record::TaskSummary& summary : summaries) {
    Json object = task_json(summary.task);
    Json counts = Json::object();
    for (size_t k = 0; k < summary.attempts.size(); ++k) {
      if (summary.attempts[k] == 0) continue;
      counts[std::string(text_of(static_cast<VerdictKind>(k)))] = summary.attempts[k];
    }
    object["attempts"] = std::move(counts);
    if (summary.best_ns > 0) {
      object["best_ns"] = summary.best_ns;
      object["best_protocol"] = summary.best_protocol;
      const double flop = app::flop_of(summary.task);
      if (flop > 0) object["gflops"] = flop / summary.best_ns;
    }
    print(context, "", object);
  }
  return ExitCode::Done;
}

Result<ExitCode> list_attempts(const Context& context, record::Store& store,
                               const ListOptions& options) {
  std::optional<VerdictKind> wanted;
  if (!options.verdict.empty()) {
    const Result<VerdictKind> kind = record::parse_verdict_kind(options.verdict);
    if (!kind) return std::unexpected(kind.error());
    wanted = *kind;
  }
  const Result<std::vector<StoredTask>> tasks = app::find_tasks(store, options.what);
  if (!tasks) return std::unexpected(tasks.error());
  for (const StoredTask& task : *tasks) {
    const double flop = app::flop_of(task);
    if (!context.json) {
      print(context, fmt::format("task {}  {}  {}\n", short_id(task.key), task.text, task.target),
            {});
    }
    size_t shown = 0;
    const Status status = store.for_each_attempt(task.key, [&](const Attempt& attempt) {
      const record::Verdict& verdict = attempt.verdict;
      if (wanted && verdict.kind != *wanted) return true;
      if (context.json) {
        print(context, "", attempt_json(attempt));
      } else {
        const bool has_time = !is_failure(verdict.kind);
        print(context,
              fmt::format("{:<14}{:<21}{:<14}{:>12}{:>18}  {:<24}{}\n", short_id(attempt.id()),
                          time_text(attempt.start_us), text_of(verdict.kind),
                          has_time ? duration_text(verdict.latency_ns) : "-",
                          rate_text(has_time ? flop : 0, verdict.latency_ns),
                          print_protocol(attempt.protocol), short_text(verdict.text)),
              {});
      }
      return ++shown != options.count;
    });
    if (!status) return std::unexpected(status.error());
  }
  return ExitCode::Done;
}

// ---- show ----

struct ShowOptions {
  std::string records;
  std::string id;
};

std::string attempt_text(const Attempt& attempt, const std::optional<StoredTask>& task,
                         const std::optional<Machine>& machine,
                         const std::optional<record::Run>& run) {
  const record::Verdict& verdict = attempt.verdict;
  std::string text = fmt::format("attempt   {}\n", attempt.id().hex());
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("verdict",
       fmt::format("{}{}", text_of(verdict.kind),
                   verdict.kind == VerdictKind::Censored
                       ? fmt::format(": slower than {}", duration_text(verdict.latency_ns))
                       : ""));
  if (verdict.kind == VerdictKind::Timed) {
    line("latency", fmt::format("{}  {}", duration_text(verdict.latency_ns),
                                rate_text(task ? app::flop_of(*task) : 0, verdict.latency_ns)));
  }
  if (!verdict.samples_ns.empty()) {
    const auto [least, most] = std::ranges::minmax(verdict.samples_ns);
    line("samples",
         fmt::format("{} from {} to {}; {} disturbed", verdict.samples_ns.size(),
                     duration_text(least), duration_text(most), attempt.conditions.disturbed));
  }
  if (!verdict.text.empty()) line("text", verdict.text);
  line("task", fmt::format("{}  {}  {}", short_id(attempt.task), task ? task->text : "not known",
                           task ? task->target : ""));
  line("machine",
       fmt::format("{}  {}", short_id(attempt.machine), machine ? machine->model : "not known"));
  line("run", fmt::format("{} of {}  {}", attempt.sequence, short_id(attempt.run),
                          run ? run->command : "not known"));
  line("protocol", print_protocol(attempt.protocol));
  line("code",
       fmt::format("generator {}, program {}", attempt.code_generator, attempt.program.hex()));
  line("from", time_text(attempt.start_us));
  line("cost",
       fmt::format("build {}, check {}, time {}", duration_text(attempt.conditions.build_ns),
                   duration_text(attempt.conditions.check_ns),
                   duration_text(attempt.conditions.time_ns)));
  line("machine's", fmt::format("clock {:.3f} of its best, load {:.2f}", attempt.conditions.clock,
                                attempt.conditions.load));
  if (!attempt.extra.empty()) line("besides", attempt.extra);
  return text + "trace\n" + attempt.trace;
}

Result<ExitCode> show_attempt(const Context& context, record::Store& store, const Hash128& id) {
  const Result<std::optional<Attempt>> attempt = store.find_attempt(id);
  if (!attempt) return std::unexpected(attempt.error());
  if (!*attempt) return fail(ErrorKind::BadInput, fmt::format("there is no attempt {}", id.hex()));
  const Result<std::optional<StoredTask>> task = store.find_task((*attempt)->task);
  if (!task) return std::unexpected(task.error());
  const Result<std::optional<record::Run>> run = store.find_run((*attempt)->run);
  if (!run) return std::unexpected(run.error());
  // A machine that a newer version described may be one that this version cannot read.
  const auto machine = store.find_machine((*attempt)->machine).value_or(std::optional<Machine>());
  Json object = attempt_json(**attempt);
  if (*task) {
    object["workload"] = (*task)->text;
    object["target"] = (*task)->target;
  }
  if (machine) object["model"] = machine->model;
  print(context, attempt_text(**attempt, *task, machine, *run), object);
  return ExitCode::Done;
}

Result<ExitCode> run_show(const Context& context, const ShowOptions& options) {
  Result<record::Store> store = open_reader(options.records);
  if (!store) return std::unexpected(store.error());
  constexpr size_t kListed = 8;
  const Result<std::vector<Hash128>> attempts = store->attempts_beginning(options.id, kListed);
  if (!attempts) return std::unexpected(attempts.error());
  const Result<std::vector<Hash128>> tasks = store->tasks_beginning(options.id, kListed);
  if (!tasks) return std::unexpected(tasks.error());
  if (options.id.empty() || attempts->size() + tasks->size() == 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("no attempt's id and no task's key begins with '{}'", options.id));
  }
  if (attempts->size() + tasks->size() > 1) {
    std::string list;
    for (const Hash128& id : *attempts) list += fmt::format("\n  attempt {}", id.hex());
    for (const Hash128& id : *tasks) list += fmt::format("\n  task    {}", id.hex());
    return fail(ErrorKind::BadInput,
                fmt::format("several begin with '{}'; say more of it:{}", options.id, list));
  }
  if (!attempts->empty()) return show_attempt(context, *store, attempts->front());
  ListOptions list;
  list.what = tasks->front().hex();
  return list_attempts(context, *store, list);
}

// ---- best ----

// The text is a file of traces: what is not of the trace stands in comments.
Result<ExitCode> run_best(const Context& context, const app::BestOptions& options) {
  size_t shown = 0;
  for (const app::BestRecord& one : TRY(app::best_records(options))) {
    const double latency_ns = one.attempt.verdict.latency_ns;
    std::string text = fmt::format(
        "{}# {} {}  {}  {}  {}  attempt {}\n", shown++ == 0 ? "" : "---\n", one.task.text,
        short_target(one.task), duration_text(latency_ns), rate_text(one.flop, latency_ns),
        print_protocol(one.attempt.protocol), short_id(one.attempt.id()));
    for (const std::string& remark : one.remarks) text += fmt::format("# {}\n", remark);
    Json object = attempt_json(one.attempt);
    object["workload"] = one.task.text;
    object["target"] = one.task.target;
    object["remarks"] = one.remarks;
    if (one.flop > 0) object["gflops"] = one.flop / latency_ns;
    print(context, text + one.attempt.trace, object);
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_records_ls(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("what", options->what,
                 "list the attempts of this: an operator, a name of the suite or a task's key");
  app.add_option("--verdict", options->verdict, "attempts that ended so: timed, crash, ...");
  app.add_option("--count", options->count, "so many attempts of each task (default: all)");
  declare_records_flag(app, &options->records);
  return [options](const Context& context) -> Result<ExitCode> {
    Result<record::Store> store = open_reader(options->records);
    if (!store) return std::unexpected(store.error());
    if (!options->what.empty()) return list_attempts(context, *store, *options);
    if (!options->verdict.empty() || options->count > 0) {
      return fail(ErrorKind::BadInput, "--verdict and --count are for the attempts of a task");
    }
    return list_tasks(context, *store);
  };
}

Action declare_records_show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option("id", options->id, "the beginning of an attempt's id or of a task's key")
      ->required();
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_show(context, *options); };
}

Action declare_records_best(CLI::App& app) {
  auto options = std::make_shared<app::BestOptions>();
  app.add_option("what", options->what, "an operator, a name of the suite or a task's key")
      ->required();
  app.add_option("--count", options->count, "the fastest so many, one per program (default: 1)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--protocol", options->protocol,
                 "preferred protocol, such as v1;warm or v1;cold (default: any)");
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_best(context, *options); };
}

}  // namespace tilewright::cli
