#include "measure/worker.h"

#include <fmt/format.h>

#include <cmath>

#include "measure/messages.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

constexpr int kFailedStartsInARow = 3;

}  // namespace

Result<Worker> Worker::start(WorkerPolicy policy, std::string task) {
  Worker worker;
  worker.policy_ = std::move(policy);
  worker.task_ = std::move(task);
  TRY(worker.restart());
  return worker;
}

Status Worker::restart() {
  process_.reset();
  ready_ = busy_ = false;
  jobs_ = 0;
  first_resident_ = 0;
  process_ = TRY(WorkerProcess::start(policy_.process));
  ++started_;
  process_->send(task_);  // poll reports a process that is already dead
  return {};
}

void Worker::submit(std::string_view message, double deadline_s) {
  busy_ = true;
  message_ = message;
  deadline_s_ = deadline_s;
  deadline_ns_ = runtime::now_ns() + std::llround(deadline_s * 1e9);
  process_->send(message);
}

WorkerEvent Worker::reap(bool late) {
  WorkerEvent event;
  event.died = true;
  event.late = late;
  event.end = process_->reap(true);
  event.signal = process_->signal();
  event.status = process_->status();
  event.stderr_tail = process_->stderr_tail();
  return event;
}

Result<std::optional<WorkerEvent>> Worker::poll() {
  while (true) {
    Result<std::optional<std::string>> reply = process_->receive();
    if (reply && *reply && !ready_) {
      const TaskReply taken = TRY(decode_task_reply(**reply));
      if (!taken.error.empty()) return fail(ErrorKind::BadInput, taken.error);
      ready_ = true;
      failed_starts_ = 0;
      continue;
    }
    if (reply && *reply) {
      busy_ = false;
      WorkerEvent event;
      event.reply = std::move(**reply);
      return event;
    }
    const bool late = reply && busy_ && runtime::now_ns() > deadline_ns_;
    if (reply && !late) return std::nullopt;
    const bool was_busy = busy_;
    const bool starting = !ready_;
    WorkerEvent event = reap(late);
    if (starting && ++failed_starts_ >= kFailedStartsInARow) {
      return fail(ErrorKind::Io,
                  fmt::format("{} does not start: {}{}{}", policy_.process.program.string(),
                              event.end, event.stderr_tail.empty() ? "" : ": ", event.stderr_tail));
    }
    TRY(restart());
    if (!was_busy) return std::nullopt;
    if (!starting) return event;
    // The job has not started: the next process gets it.
    submit(std::string(message_), deadline_s_);
  }
}

Status Worker::finish_job(int64_t resident_bytes) {
  ++jobs_;
  if (jobs_ == 1) first_resident_ = resident_bytes;
  const bool old = jobs_ >= policy_.recycle_after;
  const bool grown = resident_bytes > first_resident_ + policy_.recycle_growth;
  if (!old && !grown) return {};
  return restart();
}

}  // namespace tilewright::measure
