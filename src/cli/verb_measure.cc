// `tilewright measure WHAT (--traces FILE | --random N)`: each program gets a verdict, which is in
// the store before it is printed; the fastest are measured again in turns with the default
// schedule. Ctrl-C stops, keeps all and prints what there is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/measure_report.h"
#include "cli/progress_printer.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/traces_file.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "cli/workers.h"
#include "schedule/apply.h"
#include "space/random_trace.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string what;
  std::string traces;
  size_t random = 0;
  std::string records = kDefaultRecords;
  TargetChoice target;
  std::string cache = "warm";
  uint64_t seed = 1;
  bool force = false;
  double seconds = 0;  // 0: no limit
  size_t finalists = 8;
};

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

Result<Task> task_of(const Options& options) {
  Result<Workload> workload = parse_workload(options.what);
  if (!workload) return std::unexpected(workload.error());
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  return Task{std::move(*workload), *target};
}

Result<std::vector<schedule::Trace>> candidates_of(const Context& context, const Options& options,
                                                   const Task& task) {
  if (options.traces.empty() == (options.random == 0)) {
    return fail(ErrorKind::BadInput, "say what to measure: either --traces FILE or --random N");
  }
  if (!options.traces.empty()) return read_traces_file(options.traces);
  Rng rng(options.seed);
  std::vector<schedule::Trace> traces = space::random_traces(task, options.random, rng);
  if (traces.empty()) {
    return fail(ErrorKind::Unsupported, "no legal schedule of it could be drawn");
  }
  if (traces.size() < options.random) {
    context.err << fmt::format("there are {} different schedules to draw, not {}\n", traces.size(),
                               options.random);
  }
  return traces;
}

std::string command_of(const Options& options) {
  std::string command = "measure " + options.what;
  if (!options.traces.empty()) command += " --traces " + options.traces;
  if (options.random > 0) command += fmt::format(" --random {}", options.random);
  command += fmt::format(" --cache {} --seed {}", options.cache, options.seed);
  if (options.force) command += " --force";
  return command;
}

// One run of the verb, from candidates to the summary.
class MeasureRun {
 public:
  MeasureRun(const Context& context, const Options& options, measure::Session& session)
      : context_(context),
        options_(options),
        session_(session),
        flop_(session.measurer().task().workload.dag->flop()),
        progress_(context.err, reaches_terminal(context.err)) {}

  Status measure(const std::vector<schedule::Trace>& candidates) {
    begin_s_ = seconds_now();
    tally_.total = candidates.size();
    Status status =
        session_.measure(candidates, [&](const measure::Answer& answer) { take(answer); });
    took_s_ = seconds_now() - begin_s_;
    progress_.print(progress_line(tally_, flop_, took_s_), took_s_);
    progress_.finish();
    return status;
  }

  Status finals() {
    if (options_.finalists == 0 || Interrupt::requested() || !context_.out.good()) return {};
    if (tally_.count(record::VerdictKind::Timed) == 0) return {};
    context_.err << "the fastest once more, in turns with the default schedule\n" << std::flush;
    Result<std::vector<measure::Answer>> finals = session_.finals(options_.finalists);
    if (!finals) return std::unexpected(finals.error());
    const measure::Measurer& measurer = session_.measurer();
    const Result<schedule::LoopTree> initial = schedule::initial_tree(measurer.task().workload);
    if (!initial) return std::unexpected(initial.error());
    const Result<schedule::LoopTree> tree =
        schedule::apply_or_explain(*initial, measurer.default_trace());
    if (!tree) return std::unexpected(tree.error());
    default_program_ = program_hash(*tree);
    finals_ = std::move(*finals);
    return {};
  }

  void print_summary(const measure::Measurer& measurer) const {
    if (context_.json) return print_summary_json(measurer);
    std::string text;
    if (!finals_.empty()) text += finals_text(finals_, default_program_, flop_) + "\n";
    text += failures_text(tally_);
    text += fmt::format("{} timed, {} censored (right, but clearly slow), {} failed",
                        tally_.count(record::VerdictKind::Timed),
                        tally_.count(record::VerdictKind::Censored),
                        tally_.answered() - tally_.valid());
    text += tally_.answered() < tally_.total
                ? fmt::format("; stopped before {} more\n", tally_.total - tally_.answered())
                : "\n";
    if (tally_.stored > 0) {
      text +=
          fmt::format("{} had a verdict already: they were not measured again\n", tally_.stored);
    }
    text += fmt::format("records: {}\n", options_.records);
    context_.out << text;
  }

  const MeasureTally& tally() const { return tally_; }

 private:
  void take(const measure::Answer& answer) {
    tally_.add(answer);
    if (context_.json) {  // flushed: whoever reads it may count on it
      context_.out << print_json(answer_json(answer, flop_)) << "\n" << std::flush;
    }
    const double now_s = seconds_now() - begin_s_;
    if (progress_.is_due(now_s)) progress_.print(progress_line(tally_, flop_, now_s), now_s);
  }

  void print_summary_json(const measure::Measurer& measurer) const {
    const double default_ns = default_latency(finals_, default_program_);
    for (size_t k = 0; k < finals_.size(); ++k) {
      const bool is_default = finals_[k].attempt.program == default_program_;
      context_.out << print_json(final_json(finals_[k], k + 1, default_ns, is_default, flop_))
                   << "\n";
    }
    Json summary = {{"task", measurer.task().key().hex()},
                    {"what", measurer.task().workload.text},
                    {"target", print_target(measurer.task().target)},
                    {"records", options_.records},
                    {"candidates", tally_.total},
                    {"measured", tally_.measured},
                    {"stored", tally_.stored},
                    {"verdicts", verdicts_json(tally_.by_kind)},
                    {"interrupted", Interrupt::requested()},
                    {"seconds", took_s_}};
    if (took_s_ > 0) summary["trials_per_s"] = static_cast<double>(tally_.measured) / took_s_;
    if (tally_.best_ns > 0) {
      summary["best"] = {{"id", tally_.best_id.hex()}, {"latency_ns", tally_.best_ns}};
    }
    if (default_ns > 0) summary["default_latency_ns"] = default_ns;
    if (!finals_.empty() && finals_.front().attempt.verdict.kind == record::VerdictKind::Timed) {
      summary["winner"] = finals_.front().attempt_id.hex();
    }
    context_.out << print_json({{"summary", std::move(summary)}}) << "\n";
  }

  const Context& context_;
  const Options& options_;
  measure::Session& session_;
  double flop_;
  ProgressPrinter progress_;
  MeasureTally tally_;
  std::vector<measure::Answer> finals_;
  Hash128 default_program_;
  double begin_s_ = 0;
  double took_s_ = 0;
};

// The end came before there was a reference to check candidates by.
ExitCode too_early(const Context& context) {
  const bool interrupted = Interrupt::requested();
  context.err << (interrupted ? "interrupted" : "the time is over")
              << " before the reference was made: nothing was measured\n";
  return interrupted ? ExitCode::Interrupted : ExitCode::NothingValid;
}

Result<ExitCode> run_measure(const Context& context, const Options& options) {
  const Result<Task> task = task_of(options);
  if (!task) return std::unexpected(task.error());
  const Result<record::CachePolicy> cache = record::parse_own_cache_policy(options.cache);
  if (!cache) return std::unexpected(cache.error());
  const auto candidates = candidates_of(context, options, *task);
  if (!candidates) return std::unexpected(candidates.error());
  const Result<std::filesystem::path> workers = workers_folder();
  if (!workers) return std::unexpected(workers.error());
  Result<record::Store> store = record::Store::open(options.records);
  if (!store) return std::unexpected(store.error());

  const Interrupt interrupt;
  measure::SessionOptions session_options;
  session_options.command = command_of(options);
  session_options.version = TILEWRIGHT_VERSION;
  session_options.force = options.force;
  session_options.measure.workers = *workers;
  session_options.measure.protocol.cache = *cache;
  session_options.measure.seed = options.seed;
  double end_s = options.seconds > 0 ? seconds_now() + options.seconds : kNoEnd;
  session_options.measure.stop = [&context, &end_s] {
    return Interrupt::requested() || !context.out.good() || seconds_now() >= end_s;
  };
  Result<measure::Session> session = measure::Session::start(*task, *store, session_options);
  if (!session && (Interrupt::requested() || seconds_now() >= end_s)) return too_early(context);
  if (!session) return std::unexpected(session.error());

  MeasureRun run(context, options, *session);
  Status status = run.measure(*candidates);
  end_s = kNoEnd;  // the finals are short, and are not left out
  if (status) status = run.finals();
  run.print_summary(session->measurer());
  if (!status) return std::unexpected(status.error());
  if (Interrupt::requested()) return ExitCode::Interrupted;
  return run.tally().valid() > 0 ? ExitCode::Done : ExitCode::NothingValid;
}

}  // namespace

Action declare_measure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite")
      ->required();
  app.add_option(
      "--traces", options->traces,
      "file with the schedules: as text, separated by lines `---`, or a JSON array a line");
  app.add_option("--random", options->random, "draw so many legal schedules instead")
      ->check(CLI::Range(1, 10'000'000));
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  app.add_option("--cache", options->cache,
                 "before each sample: warm, cold or weights_cold (default: warm)");
  app.add_option("--seed", options->seed, "of the schedules drawn and of the inputs (default: 1)")
      ->check(natural_number());
  app.add_flag("--force", options->force, "measure also what has a verdict in the store");
  app.add_option("--seconds", options->seconds, "begin no trial after that long")
      ->check(number_between(0, 1e9));
  app.add_option("--finalists", options->finalists,
                 "how many are measured again in the end; 0: none (default: 8)")
      ->check(CLI::Range(0, 64));
  return [options](const Context& context) { return run_measure(context, *options); };
}

}  // namespace tilewright::cli
