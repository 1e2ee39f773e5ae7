// Timing of a mounted kernel. A sample is one call, or as many calls as take 75 us together. Under
// a cache policy that evicts, it is always one call, after an eviction and an empty parallel loop
// that wakes the thread pool. Disturbed samples are repeated, within limits, unless they are as low
// as the lowest one, because a disturbance only adds time. Not thread-safe. Durations in
// nanoseconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "measure/disturbance.h"
#include "measure/mounted_kernel.h"
#include "record/protocol.h"

namespace tilewright::measure {

// Calls a kernel and times the calls.
class KernelClock {
 public:
  // `kernel` outlives it. `timeout_ns` per call; 0: none.
  KernelClock(const MountedKernel& kernel, int threads, double timeout_ns);

  double run(int64_t calls = 1);  // total wall time, under the time limit
  // One call, whose parallel loops are cancelled after `cancel_ns`; 0: never. An earlier call that
  // was stopped no longer counts for status() and stopped().
  double run_cancellable(double cancel_ns);
  // One sample under the policy: nanoseconds per call.
  double sample(record::CachePolicy policy, int64_t calls);

  double total_ns() const { return total_ns_; }  // time spent in all calls so far
  int32_t status() const { return status_; }     // the first nonzero status
  bool stopped() const { return stopped_; }  // run_cancellable ended early because of its cancel_ns

 private:
  double run_within(int64_t calls, double timeout_ns, double cancel_ns);
  void evict_for(record::CachePolicy policy);

  const MountedKernel& kernel_;
  int threads_;
  double timeout_ns_;
  double total_ns_ = 0;
  double lowest_ns_ = 0;  // per call
  int32_t status_ = 0;
  bool stopped_ = false;
};

// Calls per sample for a kernel that takes `call_ns`.
int64_t calls_per_sample(record::CachePolicy policy, double call_ns, double sample_ns);
inline constexpr double kSampleNs = 75e3;

struct TimingResult {
  std::vector<double> samples_ns;
  double latency_ns = 0;
  int64_t disturbed = 0;
  double clock = 1;
};

// A warm-up for short calls, then samples until the sequential test stops. `call_ns`: duration of
// the first call.
TimingResult time_kernel(KernelClock& kernel, Disturbance& disturbance, record::CachePolicy policy,
                         double incumbent_ns, double call_ns);

// One turn of an interleaved kernel: `turn_ns` of samples, after a call that refills its caches. At
// least one sample; if all were disturbed, the lowest.
struct Turn {
  std::vector<double> samples_ns;  // all undisturbed samples
  std::vector<double> kept_ns;     // the lowest sample of each of 20 slices of the turn
  int64_t disturbed = 0;
  double elapsed_ns = 0;
};
Turn time_turn(KernelClock& kernel, Disturbance& disturbance, record::CachePolicy policy,
               double call_ns, double turn_ns);

}  // namespace tilewright::measure
