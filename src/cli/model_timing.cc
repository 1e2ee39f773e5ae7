#include "cli/model_timing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/clock.h"
#include "cli/interrupt.h"

namespace tilewright::cli {
namespace {

constexpr double kWarmShare = 0.1, kWholeShare = 0.75;
constexpr double kTurnSeconds = 0.05;  // of one of several
constexpr size_t kMostSamples = 1'000'000;

// Takes samples of one model.
class Stopwatch {
 public:
  explicit Stopwatch(const TimedModel& timed)
      : timed_(timed),
        inputs_(timed.arrays->input_pointers.data()),
        outputs_(timed.arrays->output_pointers.data()),
        step_ns_(static_cast<size_t>(timed.api->step_count)),
        samples_(step_ns_.size()) {}

  Status warm_up(double end_s) {
    return repeat(end_s, [&](double) { return timed_.api->run(timed_.model, inputs_, outputs_); });
  }
  Status whole_runs(double end_s) {
    return repeat(end_s, [&](double from_s) {
      const int32_t code = timed_.api->run(timed_.model, inputs_, outputs_);
      timing_.runs_ns.push_back((seconds_now() - from_s) * 1e9);
      return code;
    });
  }
  // Whole runs too, where `whole`.
  Status step_by_step(double end_s, bool whole) {
    return repeat(end_s, [&](double from_s) {
      const int32_t code = timed_.api->run_timed(timed_.model, inputs_, outputs_, step_ns_.data());
      const double run_ns = (seconds_now() - from_s) * 1e9;
      const auto sum_ns = std::accumulate(step_ns_.begin(), step_ns_.end(), int64_t{0});
      shares_.push_back(static_cast<double>(sum_ns) / run_ns);
      for (size_t k = 0; k < step_ns_.size(); ++k) {
        samples_[k].push_back(static_cast<double>(step_ns_[k]));
      }
      if (whole) timing_.runs_ns.push_back(run_ns);
      return code;
    });
  }

  bool is_full() const { return shares_.size() >= kMostSamples; }  // of runs step by step

  ModelTiming finish() {
    std::ranges::sort(timing_.runs_ns);
    std::ranges::sort(shares_);
    timing_.share = quantile_of(shares_, 0.5);
    for (std::vector<double>& one : samples_) {
      std::ranges::sort(one);
      timing_.steps_ns.push_back(quantile_of(one, 0.5));
      timing_.low_ns.push_back(quantile_of(one, kLow));
    }
    return std::move(timing_);
  }

 private:
  // Calls until `end_s`, once at least, or until it fails.
  Status repeat(double end_s, const std::function<int32_t(double begin_s)>& call) const {
    size_t calls = 0;
    double now_s = seconds_now();
    while (calls == 0 || (now_s < end_s && calls < kMostSamples && !Interrupt::requested())) {
      if (call(now_s) != 0) return fail(ErrorKind::Build, timed_.api->error(timed_.model));
      now_s = seconds_now();
      ++calls;
    }
    return {};
  }

  TimedModel timed_;
  const void* const* inputs_;
  void* const* outputs_;
  std::vector<int64_t> step_ns_;
  std::vector<std::vector<double>> samples_;  // by step
  std::vector<double> shares_;
  ModelTiming timing_;
};

Status time_one(Stopwatch& watch, double begin_s, double seconds) {
  Status status = watch.warm_up(begin_s + kWarmShare * seconds);
  if (status) status = watch.whole_runs(begin_s + (kWarmShare + kWholeShare) * seconds);
  if (status) status = watch.step_by_step(begin_s + seconds, false);
  return status;
}

// One run at the beginning of a turn finds what the others left in the caches.
Status time_in_turns(std::vector<Stopwatch>& watches, double end_s) {
  do {
    for (Stopwatch& watch : watches) {
      Status status = watch.warm_up(0);
      if (status) status = watch.step_by_step(seconds_now() + kTurnSeconds, true);
      if (!status) return status;
    }
  } while (seconds_now() < end_s && !Interrupt::requested() &&
           !std::ranges::any_of(watches, &Stopwatch::is_full));
  return {};
}

}  // namespace

double quantile_of(const std::vector<double>& ascending, double q) {
  if (ascending.empty()) return 0;
  const double position = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = position - static_cast<double>(below);
  return ascending[below] + part * (ascending[above] - ascending[below]);
}

Result<std::vector<ModelTiming>> time_models(std::span<const TimedModel> models, double seconds) {
  const double begin_s = seconds_now();
  std::vector<Stopwatch> watches(models.begin(), models.end());
  const Status status = watches.size() == 1 ? time_one(watches[0], begin_s, seconds)
                                            : time_in_turns(watches, begin_s + seconds);
  if (!status) return std::unexpected(status.error());
  std::vector<ModelTiming> timings;
  timings.reserve(watches.size());
  for (Stopwatch& watch : watches) timings.push_back(watch.finish());
  return timings;
}

std::vector<StepGroup> group_steps(const TilewrightModelApi& api, const ModelTiming& timing) {
  std::vector<StepGroup> groups;
  for (size_t k = 0; k < timing.steps_ns.size(); ++k) {
    const std::string title = api.step_titles[k];
    auto found = std::ranges::find(groups, title, &StepGroup::title);
    if (found == groups.end()) {
      found = groups.insert(groups.end(), {.title = title, .count = 0, .ns = 0});
    }
    found->count += 1;
    found->ns += timing.steps_ns[k];
  }
  return groups;
}

}  // namespace tilewright::cli
