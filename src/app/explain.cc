#include "app/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/traces_file.h"
#include "runtime/host/peak.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

constexpr double kBytesPerFlop = 2;  // assumed of the L1 cache: one f32 per multiply-add
constexpr int64_t kMaxBytes = int64_t{256} << 20;  // copied to measure the memory bandwidth

constexpr double kNotThePeak = 1.02;  // factor of a peak: a kernel above it disproves the peak

// Measures the ceilings of this machine within about that time. The L1 cache is not measured:
// processors feed their FMA units from it.
feature::Ceilings measure_ceilings(const Target& target,
                                   const std::vector<feature::MemoryLevel>& levels,
                                   double seconds) {
  feature::Ceilings ceilings;
  const double each = seconds / static_cast<double>(levels.size());
  ceilings.gflops = runtime::measure_fma_peak(target.threads(), each).gflops;
  ceilings.gigabytes_per_s.assign(levels.size(), 0);
  ceilings.gigabytes_per_s[0] = kBytesPerFlop * ceilings.gflops;
  for (size_t k = 1; k < levels.size(); ++k) {
    // Source and copy are in the next level: larger than this level, half of that one.
    const bool memory = k + 1 == levels.size();
    const int64_t here = levels[k].capacity * target.threads();
    const int64_t bytes = memory ? std::min(kMaxBytes, 2 * here)
                                 : std::max(here, levels[k + 1].capacity * target.threads() / 4);
    ceilings.gigabytes_per_s[k] =
        runtime::measure_copy_bandwidth(target.threads(), bytes, each).best();
  }
  return ceilings;
}

// Fills in the program and its position. `machine`: its caches are the levels of a CPU's code.
void explain_program(const Task& task, const schedule::Trace& trace, const Machine& machine,
                     double latency_ns, feature::Calls calls, Explanation& explanation) {
  const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
  const Result<schedule::LoopTree> tree =
      initial ? schedule::apply_or_explain(*initial, trace)
              : Result<schedule::LoopTree>(std::unexpected(initial.error()));
  if (!tree) {
    explanation.no_program = "There is no loop nest: " + tree.error().message;
    return;
  }
  ExplainedProgram program;
  program.loops = tree->to_string();
  program.instructions = schedule::estimated_instructions(*tree, task.target.vector_bytes());
  program.traffic =
      feature::estimate_traffic(*tree, feature::memory_levels(task.target, machine), calls);
  program.facts = feature::nest_facts(*tree, task.target);
  program.shares = feature::shares_of(program.traffic, explanation.ceilings, latency_ns);
  program.limits =
      feature::likely_limits(program.traffic, program.facts, task.target, program.shares);
  if (task.target.runs_on_cpu()) {
    program.levels_of = machine.model.empty() ? "an unknown machine" : machine.model;
  }
  explanation.program = std::move(program);
}

void add_ceilings(const Task& task, const Machine& machine, bool is_this_machine, double seconds,
                  Explanation& explanation) {
  if (!task.target.runs_on_cpu()) {
    explanation.no_peak = "The ceilings of a device are unknown.";
  } else if (!is_this_machine) {
    explanation.no_peak = "The peak of the machine that measured it is unknown.";
  } else if (seconds <= 0) {
    explanation.no_peak =
        "The ceilings of this machine were not measured: 0 seconds are set for it.";
  } else if (task.target.threads() > static_cast<int>(machine.cpus.size())) {
    explanation.no_peak = fmt::format("It is for {} threads, but this machine has {}: no peak.",
                                      task.target.threads(), machine.cpus.size());
  } else {
    try {
      explanation.ceilings =
          measure_ceilings(task.target, feature::memory_levels(task.target, machine), seconds);
    } catch (const std::runtime_error& error) {
      explanation.no_peak = fmt::format("The peak could not be measured: {}", error.what());
    }
  }
}

Result<Explanation> explain_schedule(const ExplainOptions& options) {
  Workload workload = TRY(parse_workload(options.what));
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
  explain_program(task, trace, detect_machine(), 0, feature::Calls::First, explanation);
  if (!explanation.program) return fail(ErrorKind::Illegal, explanation.no_program);
  return explanation;
}

Result<Explanation> explain_attempt(const ExplainOptions& options) {
  record::Store store = TRY(record::Store::open(options.records, record::OpenAs::Reader));
  Result<record::Attempt> named = find_attempt(store, options.what);
  if (!named && parse_workload(options.what)) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is a workload, not the id of an attempt; explain a schedule of it "
                            "from a file",
                            options.what),
                {{"trace_file", "FILE"}}, {{"list_attempts", options.what, "lists its attempts"}});
  }
  const record::Attempt attempt = TRY(std::move(named));
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
    if (timed) add_ceilings(*task, here, is_here, options.seconds, explanation);
    if (const double gflops = explanation.ceilings.gflops;
        gflops > 0 && task->workload.dag->flop() > kNotThePeak * gflops * latency_ns) {
      explanation.ceilings = {};
      explanation.no_peak = fmt::format(
          "This machine is busy: its FMA loop reached {:.1f} GFLOP/s, less than the kernel. Repeat "
          "`explain` on an idle machine.",
          gflops);
    }
    const bool warm = attempt.protocol.cache == record::CachePolicy::Warm;
    explain_program(*task, *trace, machine ? *machine : Machine{}, latency_ns,
                    warm ? feature::Calls::Warm : feature::Calls::First, explanation);
  }
  return explanation;
}

}  // namespace

double ExplainedProgram::flop_per_byte(const feature::MemoryLevel& level) const {
  return level.bytes > 0 ? traffic.flop / level.bytes : 0;
}

Result<Explanation> explain(const ExplainOptions& options) {
  return options.trace_file.empty() ? explain_attempt(options) : explain_schedule(options);
}

}  // namespace tilewright::app
