#include "runtime/host/timer.h"

#include <ctime>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/quantile.h"

namespace tilewright::runtime {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

double Timing::quantile(double q) const {
  CHECK(!samples_ns.empty(), "no samples");
  return quantile_of(samples_ns, std::clamp(q, 0.0, 1.0));
}

Timing time_call(const std::function<void()>& call, const TimerOptions& options) {
  const int64_t start = now_ns();
  for (int k = 0; k < options.warm_up; ++k) call();

  const int64_t before = now_ns();
  call();
  const double once_ns = static_cast<double>(std::max<int64_t>(1, now_ns() - before));
  Timing timing;
  timing.calls_per_sample =
      std::max<int64_t>(1, std::llround(std::ceil(options.min_sample_us * 1e3 / once_ns)));

  for (int k = 0; k < std::max(1, options.repeats); ++k) {
    const int64_t begin = now_ns();
    for (int64_t n = 0; n < timing.calls_per_sample; ++n) call();
    const int64_t end = now_ns();
    timing.samples_ns.push_back(static_cast<double>(end - begin) /
                                static_cast<double>(timing.calls_per_sample));
    const bool late =
        options.max_total_ms > 0 && static_cast<double>(end - start) > options.max_total_ms * 1e6;
    if (late && timing.samples_ns.size() >= 3) break;
  }
  std::sort(timing.samples_ns.begin(), timing.samples_ns.end());
  return timing;
}

}  // namespace tilewright::runtime
