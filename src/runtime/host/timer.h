// A simple timer: warm-up calls, then samples of one or more calls each. The low quantile is the
// cost of the code; the spread shows the noise of the machine. Times are nanoseconds per call.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright::runtime {

struct TimerOptions {
  int warm_up = 3;            // calls before the first sample
  int repeats = 20;           // number of samples
  double min_sample_us = 50;  // shorter calls are repeated within a sample up to this length
  double max_total_ms = 0;    // stop sampling after this time, with at least 3 samples; 0: never
};

struct Timing {
  std::vector<double> samples_ns;  // ascending
  int64_t calls_per_sample = 1;

  double quantile(double q) const;  // interpolated linearly; q in [0, 1]
  double min() const { return quantile(0); }
  double low() const { return quantile(0.1); }
  double median() const { return quantile(0.5); }
};

int64_t now_ns();         // monotonic
int64_t thread_cpu_ns();  // CPU time of the calling thread

Timing time_call(const std::function<void()>& call, const TimerOptions& options = {});

}  // namespace tilewright::runtime
