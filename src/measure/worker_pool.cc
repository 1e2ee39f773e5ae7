#include "measure/worker_pool.h"

#include <poll.h>

#include <algorithm>
#include <cmath>

#include "measure/death.h"
#include "runtime/host/affinity.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

// Wall time of a build beyond its CPU time: the machine may be busy, and the worker may be
// starting.
double build_deadline_s(double timeout_s) { return 4 * timeout_s + 20; }

// A run worker limits each call itself; this is a fallback.
double run_deadline_s(const RunMessage& message) {
  const double timeout_s = message.request.timeout_ns * 1e-9;
  const auto kernels = static_cast<double>(message.kernels.size());
  return 20 + kernels * (6 * timeout_s + message.rounds * (message.round_ns * 1e-9 + timeout_s));
}

// Replaces a malformed reply: the memory of the worker is not trusted any more.
constexpr std::string_view kUnreadable =
    "the worker's answer cannot be read: its memory is damaged";

BuildReply unreadable_build() {
  BuildReply reply;
  reply.failure = record::VerdictKind::Build;
  reply.text = kUnreadable;
  reply.resident_bytes = -1;
  return reply;
}

RunReply unreadable_run() {
  RunOutcome outcome;
  outcome.verdict.kind = record::VerdictKind::Crash;
  outcome.verdict.text = kUnreadable;
  return {.outcomes = {outcome}, .error = {}, .resident_bytes = 0};
}

}  // namespace

std::vector<bool> undisturbing(std::span<const int> cores, int threads) {
  const std::span<const int> timed =
      cores.first(std::min(static_cast<size_t>(threads), cores.size()));
  std::vector<bool> result;
  for (const int core : cores) result.push_back(std::ranges::find(timed, core) == timed.end());
  return result;
}

Result<WorkerPool> WorkerPool::start(const Task& task, const MeasureOptions& options) {
  WorkerPool pool;
  pool.options_ = options;
  const std::vector<int> cpus = runtime::cpus_by_core();
  const auto count = static_cast<int>(cpus.size());
  std::vector<int> cores;
  cores.reserve(cpus.size());
  for (const int cpu : cpus) cores.push_back(runtime::core_of_cpu(cpu));
  const std::vector<bool> overlaps = undisturbing(cores, task.target.threads());
  const int builders = options.builders > 0 ? options.builders : count;
  const std::string message = encode(TaskMessage{
      .task = record::stored_form(task), .operands_path = {}, .tolerance = {}, .memory = 0});
  for (int k = 0; k < builders; ++k) {
    const auto index = static_cast<size_t>(count - 1 - k % count);
    Worker worker =
        TRY(Worker::start({.process = {.program = options.workers / "tilewright-build-worker",
                                       .cpu = cpus[index],
                                       .memory = options.build_memory},
                           .recycle_after = options.recycle_after,
                           .recycle_growth = options.recycle_growth},
                          message));
    pool.builders_.push_back(std::move(worker));
    pool.overlaps_.push_back(overlaps[index]);
  }
  return pool;
}

Status WorkerPool::set_run_task(const TaskMessage& message) {
  if (runner_) runners_started_ += runner_->started();
  runner_.reset();
  Worker worker = TRY(Worker::start(
      {.process = {.program = options_.workers / "tilewright-run-worker", .cpu = -1, .memory = 0},
       .recycle_after = options_.recycle_after,
       .recycle_growth = options_.recycle_growth},
      encode(message)));
  runner_ = std::move(worker);
  return {};
}

void WorkerPool::submit_build(size_t builder, const std::string& trace) {
  builders_[builder].submit(
      encode(BuildMessage{.trace = trace, .timeout_s = options_.build_timeout_s}),
      build_deadline_s(options_.build_timeout_s));
}

void WorkerPool::submit_run(const RunMessage& message) {
  request_ = message.request;
  runner_->submit(encode(message), run_deadline_s(message));
}

void WorkerPool::wait(double seconds) const {
  std::vector<pollfd> waiting;
  int64_t until = runtime::now_ns() + std::llround(seconds * 1e9);
  const auto add = [&](const Worker& worker) {
    waiting.push_back({.fd = worker.fd(), .events = worker.events(), .revents = 0});
    if (worker.busy()) until = std::min(until, worker.deadline_ns() + 1'000'000);
  };
  std::ranges::for_each(builders_, add);
  if (runner_) add(*runner_);
  const int64_t left = std::max<int64_t>(0, until - runtime::now_ns());
  poll(waiting.data(), waiting.size(), static_cast<int>((left + 999'999) / 1'000'000));
}

Result<std::vector<BuildEvent>> WorkerPool::built() {
  std::vector<BuildEvent> events;
  for (size_t k = 0; k < builders_.size(); ++k) {
    std::optional<WorkerEvent> event = TRY(builders_[k].poll());
    if (!event) continue;
    if (event->died) {
      events.push_back({.builder = k,
                        .reply = reply_of_death(*event, options_.build_timeout_s),
                        .killed_externally = was_killed_externally(*event)});
      continue;
    }
    Result<BuildReply> reply = decode_build_reply(event->reply);
    if (!reply) reply = unreadable_build();
    const int64_t resident = reply->resident_bytes;
    events.push_back({.builder = k, .reply = std::move(*reply), .killed_externally = false});
    TRY(resident < 0 ? builders_[k].replace() : builders_[k].finish_job(resident));
  }
  return events;
}

Result<std::vector<RunEvent>> WorkerPool::ran() {
  std::vector<RunEvent> events;
  if (!runner_) return events;
  std::optional<WorkerEvent> event = TRY(runner_->poll());
  if (!event) return events;
  if (event->died) {
    events.push_back({.reply = {.outcomes = {outcome_of_death(*event, request_)},
                                .error = {},
                                .resident_bytes = 0},
                      .died = true,
                      .killed_externally = was_killed_externally(*event),
                      .kernel = event->status.kernel});
    return events;
  }
  Result<RunReply> reply = decode_run_reply(event->reply);
  if (!reply) reply = unreadable_run();
  const int64_t resident = reply->resident_bytes;
  const bool damaged = std::ranges::any_of(reply->outcomes, [](const RunOutcome& outcome) {
    return outcome.verdict.kind == record::VerdictKind::Crash;
  });
  events.push_back(
      {.reply = std::move(*reply), .died = false, .killed_externally = false, .kernel = 0});
  // A kernel that wrote out of bounds may have damaged other memory too.
  TRY(damaged ? runner_->replace() : runner_->finish_job(resident));
  return events;
}

Status WorkerPool::abandon() {
  for (Worker& worker : builders_) {
    TRY(worker.abandon());
  }
  return runner_ ? runner_->abandon() : Status();
}

int64_t WorkerPool::builders_started() const {
  int64_t started = 0;
  for (const Worker& worker : builders_) started += worker.started();
  return started;
}

std::vector<int> WorkerPool::pids() const {
  std::vector<int> pids;
  pids.reserve(builders_.size() + 1);
  for (const Worker& worker : builders_) pids.push_back(worker.pid());
  if (runner_) pids.push_back(runner_->pid());
  return pids;
}

}  // namespace tilewright::measure
