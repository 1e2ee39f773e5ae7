// A plain timer: warm-up calls, then samples of one or more calls each; the low quantile says what
// the code costs, the spread what the machine did meanwhile. Times are nanoseconds a call.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright::runtime {

struct TimerOptions {
  int warm_up = 3;            // calls that are not counted
  int repeats = 20;           // samples
  double min_sample_us = 50;  // a shorter call is repeated within a sample until it is as long
  double max_total_ms = 0;    // stop sampling after that long, with at least 3 samples; 0: never
};

struct Timing {
  std::vector<double> samples_ns;  // ascending
  int64_t calls_per_sample = 1;

  double quantile(double q) const;  // linear between samples; q in [0, 1]
  double min() const { return quantile(0); }
  double low() const { return quantile(0.1); }
  double median() const { return quantile(0.5); }
};

int64_t now_ns();         // monotonic
int64_t thread_cpu_ns();  // CPU time of the calling thread

Timing time_call(const std::function<void()>& call, const TimerOptions& options = {});

}  // namespace tilewright::runtime
