#include "tune/tuning_loop.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

namespace tilewright::tune {

TuningLoop::TuningLoop(LoopTasks tasks, Scheduler scheduler, LoopOptions options)
    : tasks_(std::move(tasks)),
      scheduler_(std::move(scheduler)),
      options_(std::move(options)),
      tuners_(tasks_.count),
      problems_(tasks_.count) {}

const TaskTuner* TuningLoop::tuner(size_t task) const { return tuners_[task].get(); }
const std::string& TuningLoop::problem(size_t task) const { return problems_[task]; }

bool TuningLoop::spent() const {
  return (options_.trials > 0 && trials_ >= options_.trials) || (options_.stop && options_.stop());
}

Status TuningLoop::prepare(size_t task) {
  if (!tuners_[task]) {
    TaskTuner tuner = TRY(tasks_.tuner(task));
    tuners_[task] = std::make_unique<TaskTuner>(std::move(tuner));
  }
  return {};
}

Result<RoundReport> TuningLoop::one_round(size_t task, LoopListener* listener,
                                          const std::function<void()>& before_learning) {
  TrialRunner* const runner = TRY(tasks_.runner(task));
  const int64_t left =
      options_.trials > 0 ? options_.trials - trials_ : std::numeric_limits<int64_t>::max();
  return tuners_[task]->try_round(
      *runner, static_cast<size_t>(left),
      [&](const Proposal& proposal, const Trial& trial) {
        ++trials_;
        if (listener != nullptr) listener->on_trial(task, proposal, trial);
      },
      before_learning);
}

Status TuningLoop::run(LoopListener* listener) {
  std::optional<size_t> ahead;  // prepared during the previous round
  while (!spent()) {
    const std::optional<size_t> task = ahead ? std::exchange(ahead, {}) : scheduler_.next();
    if (!task) break;
    Status status = prepare(*task);
    Result<RoundReport> report = RoundReport{};
    if (status) {
      tuners_[*task]->propose();
      std::jthread preparing;
      if (options_.in_flight > 1) {
        const size_t busy[] = {*task};
        ahead = scheduler_.next(busy);
        if (ahead && !prepare(*ahead)) ahead.reset();  // the scheduler will select it again
        if (ahead) preparing = std::jthread([this, at = *ahead] { tuners_[at]->propose(); });
      }
      report = one_round(*task, listener, [&] {
        if (options_.shares_model && preparing.joinable()) preparing.join();
      });
    }
    if (status && !report) status = std::unexpected(report.error());
    if (!status) {
      if (tasks_.count == 1) return status;
      problems_[*task] = status.error().message;
      scheduler_.tell(*task, {.trials = 0, .best_ns = 0});
      continue;
    }
    if (listener != nullptr) listener->on_round(*task, *report);
    if (!report->complete) break;
    scheduler_.tell(*task,
                    {.trials = static_cast<int64_t>(report->tried), .best_ns = report->best_ns});
  }
  return {};
}

}  // namespace tilewright::tune
