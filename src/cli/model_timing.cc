#include "cli/model_timing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/clock.h"
#include "cli/interrupt.h"

namespace tilewright::cli {
namespace {

constexpr double kWarmShare = 0.1, kWholeShare = 0.75;
constexpr size_t kMostSamples = 1'000'000;

// Calls until `end_s`, once at least, or until it fails.
Status repeat(const TilewrightModelApi& api, const TilewrightModel* model, double end_s,
              const std::function<int32_t(double begin_s)>& call) {
  size_t calls = 0;
  double now_s = seconds_now();
  while (calls == 0 || (now_s < end_s && calls < kMostSamples && !Interrupt::requested())) {
    if (call(now_s) != 0) return fail(ErrorKind::Build, api.error(model));
    now_s = seconds_now();
    ++calls;
  }
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

Result<ModelTiming> time_model(const TilewrightModelApi& api, TilewrightModel* model,
                               const ModelArrays& arrays, double seconds) {
  const void* const* inputs = arrays.input_pointers.data();
  void* const* outputs = arrays.output_pointers.data();
  const double begin_s = seconds_now();
  ModelTiming timing;
  Status status = repeat(api, model, begin_s + kWarmShare * seconds,
                         [&](double) { return api.run(model, inputs, outputs); });
  if (!status) return std::unexpected(status.error());
  status = repeat(api, model, begin_s + (kWarmShare + kWholeShare) * seconds, [&](double from_s) {
    const int32_t code = api.run(model, inputs, outputs);
    timing.runs_ns.push_back((seconds_now() - from_s) * 1e9);
    return code;
  });
  if (!status) return std::unexpected(status.error());

  const auto steps = static_cast<size_t>(api.step_count);
  std::vector<std::vector<double>> samples(steps);
  std::vector<int64_t> step_ns(steps);
  std::vector<double> shares;
  status = repeat(api, model, begin_s + seconds, [&](double from_s) {
    const int32_t code = api.run_timed(model, inputs, outputs, step_ns.data());
    const double run_ns = (seconds_now() - from_s) * 1e9;
    const auto sum_ns = std::accumulate(step_ns.begin(), step_ns.end(), int64_t{0});
    shares.push_back(static_cast<double>(sum_ns) / run_ns);
    for (size_t k = 0; k < steps; ++k) samples[k].push_back(static_cast<double>(step_ns[k]));
    return code;
  });
  if (!status) return std::unexpected(status.error());
  std::ranges::sort(timing.runs_ns);
  std::ranges::sort(shares);
  timing.share = quantile_of(shares, 0.5);
  timing.steps_ns.reserve(steps);
  for (std::vector<double>& one : samples) {
    std::ranges::sort(one);
    timing.steps_ns.push_back(quantile_of(one, 0.5));
  }
  return timing;
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
