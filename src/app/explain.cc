#include "app/explain.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/machine_rates.h"
#include "app/model_choice.h"
#include "app/traces_file.h"
#include "base/counted.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

constexpr size_t kShown = 64;         // characters of a text that is not known
constexpr double kNotThePeak = 1.02;  // factor of a peak: a kernel above it disproves the peak

void add_program(const Task& task, const schedule::Trace& trace, const Machine& machine,
                 const ProgramTiming& timing, Explanation& explanation) {
  Result<ExplainedProgram> program = explain_program(task, trace, machine, timing);
  if (program) {
    explanation.program = std::move(*program);
  } else {
    explanation.no_program = "There is no loop nest: " + program.error().message;
  }
}

void add_ceilings(const Task& task, const Machine& machine, bool is_this_machine, double seconds,
                  const StopToken& stop, Explanation& explanation) {
  if (!task.target.runs_on_cpu()) {
    explanation.no_peak = "The ceilings of a device are unknown.";
  } else if (!is_this_machine) {
    explanation.no_peak = "The peak of the machine that measured it is unknown.";
  } else if (seconds <= 0) {
    explanation.no_peak =
        "The ceilings of this machine were not measured: the time limit for it is 0 seconds.";
  } else if (task.target.threads() > static_cast<int>(machine.cpus.size())) {
    explanation.no_peak =
        fmt::format("It is for {}, but this machine has {}: no peak.",
                    counted(task.target.threads(), "thread"), machine.cpus.size());
  } else {
    const Result<MachineRates> rates = measure_rates(task.target, machine, seconds, stop);
    if (stop.requested()) {
      explanation.no_peak = "The ceilings of this machine were not measured: stopped.";
    } else if (rates) {
      explanation.ceilings = ceilings_of(*rates);
    } else {
      explanation.no_peak =
          fmt::format("The peak could not be measured: {}", rates.error().message);
    }
  }
}

Result<Explanation> explain_schedule(const ExplainOptions& options) {
  Workload workload = TRY(operator_named(options.what));
  const Target target = TRY(target_of(options.target, 1));
  const schedule::Trace trace = TRY(read_trace_file(options.trace_file));
  const Task task{std::move(workload), target};
  Explanation explanation{.what = task.workload.text,
                          .target = print_target(task.target),
                          .attempt = {},
                          .program = {},
                          .no_program = {},
                          .no_peak = {},
                          .ceilings = {}};
  add_program(task, trace, detect_machine(), {}, explanation);
  if (!explanation.program) return fail(ErrorKind::Illegal, explanation.no_program);
  return explanation;
}

std::unexpected<Error> not_explained(const std::string& what) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(what, error);
  return fail(ErrorKind::BadInput,
              fmt::format("'{}' is {}not an id of an attempt ({}), nor a compiled model, MODEL.so, "
                          "nor an operator, which needs a file with its schedule",
                          what.substr(0, kShown), is_folder ? "a folder, " : "", kIdForm),
              {{"trace_file", "FILE"}});
}

Result<Explanation> explain_attempt(const ExplainOptions& options, const StopToken& stop) {
  const bool is_workload = parse_workload(options.what).has_value();
  if (!is_id(options.what) && !is_workload) return not_explained(options.what);
  Result<record::Store> opened = open_store(options.records, record::OpenAs::Reader);
  Result<record::Attempt> named = opened ? find_attempt(*opened, options.what)
                                         : Result<record::Attempt>(std::unexpected(opened.error()));
  if (!named && is_workload) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is a workload, not the id of an attempt; explain a schedule of it "
                            "from a file",
                            options.what),
                {{"trace_file", "FILE"}}, {{"list_attempts", options.what, "lists its attempts"}});
  }
  const record::Attempt attempt = TRY(std::move(named));
  record::Store& store = *opened;
  const std::optional<record::StoredTask> stored = TRY(store.find_task(attempt.task));
  const std::optional<Machine> machine = TRY(store.find_machine(attempt.machine));
  const std::optional<record::Run> run = TRY(store.find_run(attempt.run));

  const Machine here = detect_machine();
  const bool is_here = record::machine_id(here) == attempt.machine;
  Explanation explanation{.what = stored ? stored->text : "an unknown task",
                          .target = stored ? stored->target : "an unknown target",
                          .attempt = ExplainedAttempt{.attempt = attempt,
                                                      .verdict = text_of(attempt.verdict.kind),
                                                      .protocol = print_protocol(attempt.protocol),
                                                      .machine = machine ? machine->model : "",
                                                      .is_this_machine = is_here,
                                                      .run = run ? run->command : ""},
                          .program = {},
                          .no_program = {},
                          .no_peak = {},
                          .ceilings = {}};
  const Result<Task> task =
      stored ? record::task_of(*stored) : Result<Task>(fail(ErrorKind::BadInput, "no task"));
  const Result<schedule::Trace> trace = schedule::trace_from_text(attempt.trace);
  if (!task || !trace) {
    explanation.no_program =
        "There is no loop nest: " + (!task ? task.error().message : trace.error().message);
  } else {
    const bool timed = !is_failure(attempt.verdict.kind);
    const double latency_ns = timed ? attempt.verdict.latency_ns : 0;
    if (timed) add_ceilings(*task, here, is_here, options.seconds, stop, explanation);
    if (const double gflops = explanation.ceilings.gflops;
        gflops > 0 && task->workload.dag->flop() > kNotThePeak * gflops * latency_ns) {
      explanation.ceilings = {};
      explanation.no_peak = fmt::format(
          "This machine is busy: its FMA loop reached {:.1f} GFLOP/s, less than the kernel. "
          "Explain "
          "it again on an idle machine.",
          gflops);
    }
    const bool warm = attempt.protocol.cache == record::CachePolicy::Warm;
    const ProgramTiming timing{.ceilings = explanation.ceilings,
                               .latency_ns = latency_ns,
                               .calls = warm ? feature::Calls::Warm : feature::Calls::First};
    add_program(*task, *trace, machine ? *machine : Machine{}, timing, explanation);
  }
  return explanation;
}

}  // namespace

Result<Explanation> explain(const ExplainOptions& options, const StopToken& stop) {
  return options.trace_file.empty() ? explain_attempt(options, stop) : explain_schedule(options);
}

}  // namespace tilewright::app
