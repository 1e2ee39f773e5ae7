// Timing of a mounted kernel. A sample is one call, or as many as take 75 us together; under a
// policy that evicts, always one call, after an eviction and an empty parallel loop that wakes the
// pool. Samples that were disturbed are taken again, in bounds, unless they are as low as any: a
// disturbance only ever adds. Not to be shared between threads. Durations in nanoseconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "measure/disturbance.h"
#include "measure/mounted_kernel.h"
#include "record/protocol.h"

namespace tilewright::measure {

// One call after another, and what they cost.
class KernelClock {
 public:
  // `kernel` outlives it. `timeout_ns` of one call; 0: none.
  KernelClock(const MountedKernel& kernel, int threads, double timeout_ns);

  double run(int64_t calls = 1);  // wall time of all of them, under the time limit
  // One sample of the policy: nanoseconds a call.
  double sample(record::CachePolicy policy, int64_t calls);

  double total_ns() const { return total_ns_; }  // inside of all calls so far
  int32_t status() const { return status_; }     // the first that was not 0

 private:
  void evict_for(record::CachePolicy policy);

  const MountedKernel& kernel_;
  int threads_;
  double timeout_ns_;
  double total_ns_ = 0;
  double lowest_ns_ = 0;  // of a call
  int32_t status_ = 0;
};

// Calls of one sample, for a kernel that takes `call_ns`.
int64_t calls_per_sample(record::CachePolicy policy, double call_ns, double sample_ns);
inline constexpr double kSampleNs = 75e3;

struct TimingResult {
  std::vector<double> samples_ns;
  double latency_ns = 0;
  int64_t disturbed = 0;
  double clock = 1;
};

// Warm-up where a call is short, then samples until the sequential test has enough. `call_ns` is
// what the first call took.
TimingResult time_kernel(KernelClock& kernel, Disturbance& disturbance, record::CachePolicy policy,
                         double incumbent_ns, double call_ns);

// One turn of a kernel that alternates with others: `turn_ns` of samples, after a call that brings
// back its caches. At least one sample, the lowest of the disturbed ones if there is no other.
struct Turn {
  std::vector<double> samples_ns;  // all that were not disturbed
  std::vector<double> kept_ns;     // the lowest of each of 20 slices of the turn
  int64_t disturbed = 0;
  double elapsed_ns = 0;
};
Turn time_turn(KernelClock& kernel, Disturbance& disturbance, record::CachePolicy policy,
               double call_ns, double turn_ns);

}  // namespace tilewright::measure
