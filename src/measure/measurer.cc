#include "measure/measurer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "heuristic/default_trace.h"
#include "measure/shared_operands.h"
#include "measure/trials.h"
#include "measure/worker_pool.h"
#include "oracle/draw_inputs.h"
#include "oracle/expectation.h"
#include "oracle/special_values.h"
#include "runtime/host/loaders.h"
#include "schedule/apply.h"

namespace tilewright::measure {
namespace {

using record::VerdictKind;

constexpr double kReferenceTimeoutNs = 300e9;  // the default schedule of a large workload is slow
constexpr int64_t kDefaultRunMemory = int64_t{1} << 30;

}  // namespace

struct Measurer::Impl {
  Task task;
  MeasureOptions options;
  schedule::LoopTree initial;
  std::optional<SharedOperands> operands;
  std::optional<WorkerPool> pool;
  schedule::Trace default_trace;
  double default_ns = 0;
  double incumbent_ns = 0;
  Shares shares;

  Status check_cancelled();  // an error if measuring is cancelled
  Status set_run_task(const oracle::Tolerance& tolerance);
  Status make_reference();
  Result<std::vector<BuildReply>> build_all(std::span<const schedule::Trace> traces);
  Result<RunEvent> run_alone(const RunMessage& message);
  Result<RunOutcome> run_reference(RunJob job, const BuildReply& built);
  Status run_together(RunMessage message, std::vector<size_t> which,
                      std::vector<Measurement>& measurements);
  Measurement illegal(size_t candidate, const schedule::Trace& trace) const;
};

Status Measurer::Impl::check_cancelled() {
  if (!options.stop || !options.stop()) return {};
  TRY(pool->abandon());
  return fail(ErrorKind::Io, "stopped on request");
}

Status Measurer::Impl::set_run_task(const oracle::Tolerance& tolerance) {
  const int64_t extra = options.run_memory > 0 ? options.run_memory : kDefaultRunMemory;
  return pool->set_run_task(
      {.task = record::stored_form(task),
       .operands_path = fmt::format("/proc/{}/fd/{}", getpid(), operands->fd()),
       .tolerance = tolerance,
       .memory = extra + 4 * operands->bytes()});
}

// Builds the given programs on all builders while nothing is timed. Results are in the given order.
Result<std::vector<BuildReply>> Measurer::Impl::build_all(std::span<const schedule::Trace> traces) {
  std::vector<BuildReply> replies(traces.size());
  std::vector<size_t> waiting;  // the last comes first
  for (size_t k = traces.size(); k-- > 0;) waiting.push_back(k);
  std::vector<std::optional<size_t>> at(pool->builders());
  std::vector<int> kills(traces.size());
  size_t left = traces.size();
  while (left > 0) {
    for (size_t b = 0; b < at.size() && !waiting.empty(); ++b) {
      if (at[b]) continue;
      at[b] = waiting.back();
      waiting.pop_back();
      pool->submit_build(b, schedule::to_text(traces[*at[b]]));
    }
    TRY(check_cancelled());
    pool->wait(0.1);
    std::vector<BuildEvent> events = TRY(pool->built());
    for (BuildEvent& event : events) {
      if (!at[event.builder]) continue;
      const size_t k = *std::exchange(at[event.builder], std::nullopt);
      if (event.killed_externally && kills[k]++ == 0) {
        waiting.push_back(k);
        continue;
      }
      replies[k] = std::move(event.reply);
      --left;
    }
  }
  return replies;
}

Result<RunEvent> Measurer::Impl::run_alone(const RunMessage& message) {
  for (int kills = 0;;) {
    pool->submit_run(message);
    std::optional<RunEvent> ended;
    while (!ended) {
      TRY(check_cancelled());
      pool->wait(0.1);
      std::vector<RunEvent> events = TRY(pool->ran());
      if (!events.empty()) ended = std::move(events.front());
    }
    if (ended->killed_externally && kills++ == 0) continue;
    return std::move(*ended);
  }
}

Result<RunOutcome> Measurer::Impl::run_reference(RunJob job, const BuildReply& built) {
  const std::string who =
      fmt::format("the {} schedule of {}", job == RunJob::Reference ? "default" : "second default",
                  task.workload.text);
  if (built.failure != VerdictKind::Timed) {
    return fail(ErrorKind::Build, fmt::format("{} cannot be built: {}", who, built.text));
  }
  RunMessage message;
  message.job = job;
  message.kernels = {built.kernel};
  message.request.timeout_ns = kReferenceTimeoutNs;
  RunEvent event = TRY(run_alone(message));
  if (!event.reply.error.empty() || event.reply.outcomes.size() != 1) {
    return fail(ErrorKind::Io, fmt::format("{} cannot be run: {}", who, event.reply.error));
  }
  RunOutcome outcome = std::move(event.reply.outcomes.front());
  if (record::is_failure(outcome.verdict.kind)) {
    return fail(ErrorKind::Build, fmt::format("{} fails ({}): {}", who,
                                              text_of(outcome.verdict.kind), outcome.verdict.text));
  }
  return outcome;
}

// Computes the output of the default schedule and validates it by the definition and by another
// schedule.
Status Measurer::Impl::make_reference() {
  std::vector<schedule::Trace> traces;
  for (const int variant : {0, 1}) {
    traces.push_back(TRY(heuristic::default_trace(task.workload, task.target, variant)));
  }
  default_trace = traces[0];
  operands = TRY(SharedOperands::create(task.workload));
  TRY(oracle::draw_inputs(task.workload, options.seed, operands->sections()));
  TRY(set_run_task({}));
  const std::vector<BuildReply> built = TRY(build_all(traces));
  const RunOutcome first = TRY(run_reference(RunJob::Reference, built[0]));
  default_ns = first.conditions.time_ns;
  incumbent_ns = default_ns;
  const Result<oracle::Tolerance> tolerance =
      oracle::judge_reference(task.workload, operands->sections());
  if (!tolerance) {
    return fail(ErrorKind::Build, fmt::format("the default schedule of {} is wrong: {}",
                                              task.workload.text, tolerance.error().message));
  }
  TRY(oracle::judge_special(task.workload, operands->sections(), operands->special_outputs()));
  TRY(set_run_task(*tolerance));
  TRY(run_reference(RunJob::Check, built[1]));
  return {};
}

// Runs the kernels of `message` interleaved; kernel k is that of measurements[which[k]]. A kernel
// that kills the worker is removed, and the others start again without it.
Status Measurer::Impl::run_together(RunMessage message, std::vector<size_t> which,
                                    std::vector<Measurement>& measurements) {
  const auto take = [&](size_t k, RunOutcome& outcome) {
    const double build_ns = measurements[k].conditions.build_ns;
    measurements[k].verdict = std::move(outcome.verdict);
    measurements[k].conditions = outcome.conditions;
    measurements[k].conditions.build_ns = build_ns;
    measurements[k].kernel_ns = outcome.kernel_ns;
  };
  while (!which.empty()) {
    RunEvent event = TRY(run_alone(message));
    std::vector<RunOutcome>& outcomes = event.reply.outcomes;
    if (!event.died && outcomes.size() == which.size()) {
      for (size_t k = 0; k < which.size(); ++k) take(which[k], outcomes[k]);
      return {};
    }
    // From a faulty worker: may have any value.
    const auto faulty = static_cast<size_t>(event.kernel);
    if (!event.died || faulty >= which.size()) {
      for (const size_t k : which) {
        measurements[k].verdict.kind = VerdictKind::Device;
        measurements[k].verdict.text =
            outcomes.empty() ? event.reply.error : outcomes.front().verdict.text;
      }
      return {};
    }
    take(which[faulty], outcomes.front());
    which.erase(which.begin() + event.kernel);
    message.kernels.erase(message.kernels.begin() + event.kernel);
  }
  return {};
}

Measurement Measurer::Impl::illegal(size_t candidate, const schedule::Trace& trace) const {
  const int64_t now = time_of_day_us();
  const Result<schedule::LoopTree> made = schedule::apply_or_explain(initial, trace);
  return {.candidate = candidate,
          .program = {},
          .verdict = {.kind = VerdictKind::Illegal,
                      .latency_ns = 0,
                      .samples_ns = {},
                      .text = made ? "it has no program" : made.error().message},
          .conditions = {},
          .kernel_ns = 0,
          .start_us = now,
          .end_us = now};
}

Measurer::Measurer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;
Measurer::~Measurer() = default;

Result<Measurer> Measurer::start(const Task& task, const MeasureOptions& options) {
  TRY(runtime::check_loadable(task.target, options.loaders));
  auto impl = std::make_unique<Impl>();
  impl->task = task;
  impl->options = options;
  impl->initial = TRY(schedule::initial_tree(impl->task.workload));
  impl->pool = TRY(WorkerPool::start(task, options));
  TRY(impl->make_reference());
  return Measurer(std::move(impl));
}

const Task& Measurer::task() const { return impl_->task; }
double Measurer::default_ns() const { return impl_->default_ns; }
const schedule::Trace& Measurer::default_trace() const { return impl_->default_trace; }
double Measurer::incumbent_ns() const { return impl_->incumbent_ns; }
void Measurer::set_incumbent(double latency_ns) {
  if (latency_ns > 0) impl_->incumbent_ns = std::min(impl_->incumbent_ns, latency_ns);
}

std::vector<Proposal> Measurer::proposals_of(std::span<const schedule::Trace> traces) const {
  return measure::proposals_of(impl_->initial, impl_->task.target, traces);
}

Status Measurer::measure(std::span<const schedule::Trace> candidates, const Report& report) {
  return measure(proposals_of(candidates), report);
}

Status Measurer::measure(std::span<const Proposal> candidates, const Report& report,
                         const Wanted& wanted) {
  Trials trials(*impl_->pool, impl_->options, impl_->shares, impl_->incumbent_ns);
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (candidates[k].program == Hash128{}) {
      trials.add_finished(impl_->illegal(k, candidates[k].trace));
      continue;
    }
    PendingTrial trial;
    trial.candidate = k;
    trial.trace = schedule::to_text(candidates[k].trace);
    trial.program = candidates[k].program;
    trials.add(std::move(trial));
  }
  return trials.run(report, wanted);
}

Result<std::vector<Measurement>> Measurer::compare(std::span<const schedule::Trace> finalists,
                                                   int rounds, double round_ms) {
  return compare(proposals_of(finalists), rounds, round_ms);
}

Result<std::vector<Measurement>> Measurer::compare(std::span<const Proposal> finalists, int rounds,
                                                   double round_ms) {
  const int64_t start_us = time_of_day_us();
  std::vector<schedule::Trace> traces;
  traces.reserve(finalists.size());
  for (const Proposal& finalist : finalists) traces.push_back(finalist.trace);
  const std::vector<BuildReply> built = TRY(impl_->build_all(traces));
  std::vector<Measurement> measurements(finalists.size());
  RunMessage message;
  message.job = RunJob::Compare;
  message.request = request_for(impl_->options, std::max(impl_->incumbent_ns, impl_->default_ns));
  message.request.protocol.interleaved = true;
  message.rounds = rounds;
  message.round_ns = round_ms * 1e6;
  std::vector<size_t> running;
  for (size_t k = 0; k < finalists.size(); ++k) {
    measurements[k].candidate = k;
    measurements[k].start_us = start_us;
    measurements[k].conditions.build_ns = built[k].cpu_ns;
    measurements[k].program = finalists[k].program;
    if (finalists[k].program == Hash128{}) {
      measurements[k].verdict.kind = VerdictKind::Illegal;
      continue;
    }
    if (built[k].failure != VerdictKind::Timed) {
      measurements[k].verdict.kind = built[k].failure;
      measurements[k].verdict.text = built[k].text;
      continue;
    }
    message.kernels.push_back(built[k].kernel);
    running.push_back(k);
  }
  TRY(impl_->run_together(message, running, measurements));
  const int64_t end_us = time_of_day_us();
  for (Measurement& measurement : measurements) measurement.end_us = end_us;
  return measurements;
}

Shares Measurer::shares() const {
  Shares shares = impl_->shares;
  shares.builders_started = impl_->pool->builders_started();
  shares.runners_started = impl_->pool->runners_started();
  return shares;
}

std::vector<int> Measurer::worker_pids() const { return impl_->pool->pids(); }

}  // namespace tilewright::measure
