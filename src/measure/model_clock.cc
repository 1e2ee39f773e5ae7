#include "measure/model_clock.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/quantile.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

constexpr double kWarmShare = 0.1, kWholeShare = 0.75;
constexpr double kTurnSeconds = 0.05;  // per model, if there are several
constexpr size_t kMaxSamples = 1'000'000;

int64_t after(int64_t begin_ns, double seconds) { return begin_ns + std::llround(seconds * 1e9); }

// Takes samples of one model.
class ModelTimer {
 public:
  ModelTimer(const TimedModel& timed, std::function<bool()> stop)
      : timed_(timed),
        stop_(std::move(stop)),
        inputs_(timed.arrays->input_pointers.data()),
        outputs_(timed.arrays->output_pointers.data()),
        step_ns_(static_cast<size_t>(timed.api->step_count)),
        samples_(step_ns_.size()) {}

  Status warm_up(int64_t end_ns) {
    return repeat(end_ns,
                  [&](int64_t) { return timed_.api->run(timed_.model, inputs_, outputs_); });
  }
  Status whole_runs(int64_t end_ns) {
    return repeat(end_ns, [&](int64_t from_ns) {
      const int32_t code = timed_.api->run(timed_.model, inputs_, outputs_);
      timing_.runs_ns.push_back(static_cast<double>(runtime::now_ns() - from_ns));
      return code;
    });
  }
  // `whole`: also times whole runs.
  Status step_by_step(int64_t end_ns, bool whole) {
    return repeat(end_ns, [&](int64_t from_ns) {
      const int32_t code = timed_.api->run_timed(timed_.model, inputs_, outputs_, step_ns_.data());
      const auto run_ns = static_cast<double>(runtime::now_ns() - from_ns);
      const auto sum_ns = std::accumulate(step_ns_.begin(), step_ns_.end(), int64_t{0});
      shares_.push_back(static_cast<double>(sum_ns) / std::max(run_ns, 1.0));
      for (size_t k = 0; k < step_ns_.size(); ++k) {
        samples_[k].push_back(static_cast<double>(step_ns_[k]));
      }
      if (whole) timing_.runs_ns.push_back(run_ns);
      return code;
    });
  }

  bool is_full() const { return shares_.size() >= kMaxSamples; }  // of runs timed step by step

  ModelTiming finish() {
    std::ranges::sort(timing_.runs_ns);
    std::ranges::sort(shares_);
    timing_.share = quantile_of(shares_, 0.5);
    for (std::vector<double>& one : samples_) {
      std::ranges::sort(one);
      timing_.steps_ns.push_back(quantile_of(one, 0.5));
      timing_.low_ns.push_back(quantile_of(one, kModelLowQuantile));
    }
    return std::move(timing_);
  }

 private:
  // Runs until `end_ns`, at least once, or until it fails.
  Status repeat(int64_t end_ns, const std::function<int32_t(int64_t begin_ns)>& call) const {
    size_t calls = 0;
    int64_t now_ns = runtime::now_ns();
    while (calls == 0 || (now_ns < end_ns && calls < kMaxSamples && !(stop_ && stop_()))) {
      if (call(now_ns) != 0) return fail(ErrorKind::Build, timed_.api->error(timed_.model));
      now_ns = runtime::now_ns();
      ++calls;
    }
    return {};
  }

  TimedModel timed_;
  std::function<bool()> stop_;
  const void* const* inputs_;
  void* const* outputs_;
  std::vector<int64_t> step_ns_;
  std::vector<std::vector<double>> samples_;  // per step
  std::vector<double> shares_;
  ModelTiming timing_;
};

Status time_one(ModelTimer& timer, int64_t begin_ns, double seconds) {
  TRY(timer.warm_up(after(begin_ns, kWarmShare * seconds)));
  TRY(timer.whole_runs(after(begin_ns, (kWarmShare + kWholeShare) * seconds)));
  return timer.step_by_step(after(begin_ns, seconds), false);
}

// The first run of a turn finds the cache contents of the other models; it is not counted.
Status time_interleaved(std::vector<ModelTimer>& timers, int64_t end_ns,
                        const ModelClockOptions& options) {
  do {
    for (size_t k = 0; k < timers.size(); ++k) {
      if (options.at_work) options.at_work(k);
      TRY(timers[k].warm_up(0));
      TRY(timers[k].step_by_step(after(runtime::now_ns(), kTurnSeconds), true));
    }
  } while (runtime::now_ns() < end_ns && !(options.stop && options.stop()) &&
           !std::ranges::any_of(timers, &ModelTimer::is_full));
  return {};
}

}  // namespace

Result<std::vector<ModelTiming>> time_models(std::span<const TimedModel> models,
                                             const ModelClockOptions& options) {
  const int64_t begin_ns = runtime::now_ns();
  std::vector<ModelTimer> timers;
  timers.reserve(models.size());
  for (const TimedModel& model : models) timers.emplace_back(model, options.stop);
  if (timers.size() == 1) {
    if (options.at_work) options.at_work(0);
    TRY(time_one(timers[0], begin_ns, options.seconds));
  } else if (!timers.empty()) {
    TRY(time_interleaved(timers, after(begin_ns, options.seconds), options));
  }
  std::vector<ModelTiming> timings;
  timings.reserve(timers.size());
  for (ModelTimer& timer : timers) timings.push_back(timer.finish());
  return timings;
}

}  // namespace tilewright::measure
