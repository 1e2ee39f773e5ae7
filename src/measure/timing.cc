#include "measure/timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "measure/crash_handler.h"
#include "measure/sequential_test.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/timer.h"
#include "target/host_cache_lines.h"

namespace tilewright::measure {
namespace {

using record::CachePolicy;
using runtime::now_ns;

constexpr double kWarmUpNs = 200e3;
constexpr double kLongNs = 500e3;  // longer calls need no warm-up: the first sample serves as one
constexpr int64_t kMaxCalls = 100'000;  // per sample, for a kernel that does almost nothing
constexpr int64_t kRetries = 32;        // of disturbed samples
constexpr double kRetryNs = 8e6;        // limit of their time
constexpr int64_t kFreeRetries = 2;     // retries that the limit does not apply to
// Factor of the lowest sample up to which a disturbed one is accepted.
constexpr double kAsLow = 1.01;
constexpr double kSlowClock = 0.9;
// The time limit allows other calls to be slower than the fastest by this factor.
constexpr double kSlack = 10;
constexpr size_t kSlices = 20;

void do_nothing(void*, int64_t, int32_t) {}

// An accidentally low reading is repeated.
double clock_of(Disturbance& disturbance) {
  double clock = disturbance.clock();
  for (int k = 0; k < 2 && clock < kSlowClock; ++k) clock = std::max(clock, disturbance.clock());
  return clock;
}

class Sampler {
 public:
  Sampler(KernelClock& kernel, Disturbance& disturbance, CachePolicy policy, double call_ns)
      : kernel_(kernel),
        disturbance_(disturbance),
        policy_(policy),
        calls_(calls_per_sample(policy, call_ns, kSampleNs)),
        lowest_ns_(call_ns) {}

  // The samples of one sequential test.
  SequentialTest take(double incumbent_ns) {
    SequentialTest test(incumbent_ns);
    const int64_t begin = now_ns();
    while (true) {
      disturbance_.begin_sample();
      const double sample = kernel_.sample(policy_, calls_);
      const bool disturbed = disturbance_.disturbed();
      const bool low = sample <= lowest_ns_ * kAsLow;
      lowest_ns_ = std::min(lowest_ns_, sample);
      quiet_ &= !disturbed;
      if (disturbed && !low && retry(sample)) continue;
      if (test.add(sample, static_cast<double>(now_ns() - begin), quiet_)) return test;
    }
  }

  int64_t disturbed() const { return disturbed_; }
  void discard(size_t samples) { disturbed_ += static_cast<int64_t>(samples); }

 private:
  bool retry(double sample_ns) {
    if (disturbed_ >= kRetries || (disturbed_ >= kFreeRetries && retried_ns_ > kRetryNs)) {
      return false;  // the machine is never idle: use the disturbed samples
    }
    ++disturbed_;
    retried_ns_ += sample_ns * static_cast<double>(calls_);
    return true;
  }

  KernelClock& kernel_;
  Disturbance& disturbance_;
  CachePolicy policy_;
  int64_t calls_;
  double lowest_ns_;  // of all calls so far
  bool quiet_ = true;
  int64_t disturbed_ = 0;
  double retried_ns_ = 0;
};

}  // namespace

int64_t calls_per_sample(CachePolicy policy, double call_ns, double sample_ns) {
  if (policy != CachePolicy::Warm) return 1;
  return std::clamp<int64_t>(std::llround(std::ceil(sample_ns / std::max(call_ns, 1.0))), 1,
                             kMaxCalls);
}

KernelClock::KernelClock(const MountedKernel& kernel, int threads, double timeout_ns)
    : kernel_(kernel), threads_(threads), timeout_ns_(timeout_ns) {}

double KernelClock::run(int64_t calls) {
  // One of many calls may hang; the others take almost no time.
  const double others_ns = kSlack * static_cast<double>(calls - 1) * lowest_ns_;
  return run_within(calls, timeout_ns_ > 0 ? timeout_ns_ + others_ns : 0, 0);
}

double KernelClock::run_cancellable(double cancel_ns) {
  if (stopped_) status_ = 0;
  stopped_ = false;
  return run_within(1, timeout_ns_, cancel_ns);
}

double KernelClock::run_within(int64_t calls, double timeout_ns, double cancel_ns) {
  const TimeLimit limit(timeout_ns, cancel_ns);
  int32_t status = 0;
  const double ns = kernel_.time(calls, &status);
  if (status_ == 0) status_ = status;
  // A kernel that has run all its loops by then succeeds.
  stopped_ |= limit.cancelled() && status == TILEWRIGHT_STATUS_PARALLEL_FAILED;
  total_ns_ += ns;
  const double call_ns = ns / static_cast<double>(calls);
  lowest_ns_ = lowest_ns_ == 0 ? call_ns : std::min(lowest_ns_, call_ns);
  return ns;
}

double KernelClock::sample(CachePolicy policy, int64_t calls) {
  evict_for(policy);
  return run(calls) / static_cast<double>(calls);
}

void KernelClock::evict_for(CachePolicy policy) {
  if (policy == CachePolicy::Warm) return;
  const bool all = policy == CachePolicy::Cold;
  for (const std::span<const std::byte> memory : all ? kernel_.touched() : kernel_.constants()) {
    evict_cache_lines(memory);
  }
  if (threads_ > 1) tilewright_parallel_for(nullptr, threads_, threads_, do_nothing, nullptr);
}

TimingResult time_kernel(KernelClock& kernel, Disturbance& disturbance, CachePolicy policy,
                         double incumbent_ns, double call_ns) {
  // The first run had cold caches and cold code; the second shows the cost.
  for (double warm_ns = 0; warm_ns < kWarmUpNs && call_ns < kLongNs;) {
    const double ns = kernel.run();
    call_ns = std::min(call_ns, ns);
    warm_ns += std::max(ns, kWarmUpNs / 16);
  }
  Sampler sampler(kernel, disturbance, policy, call_ns);
  disturbance.begin_trial();
  double clock = clock_of(disturbance);
  SequentialTest test = sampler.take(incumbent_ns);
  clock = std::min(clock, clock_of(disturbance));
  if (clock < kSlowClock || disturbance.stolen()) {  // repeat once and keep the better set
    const double before = clock_of(disturbance);
    SequentialTest again = sampler.take(incumbent_ns);
    const double again_clock = std::min(before, clock_of(disturbance));
    const bool better = again.latency_ns() < test.latency_ns();
    sampler.discard((better ? test : again).samples().size());
    if (better) {
      test = std::move(again);
      clock = again_clock;
    }
  }
  return {.samples_ns = {test.samples().begin(), test.samples().end()},
          .latency_ns = test.latency_ns(),
          .disturbed = sampler.disturbed(),
          .clock = clock};
}

Turn time_turn(KernelClock& kernel, Disturbance& disturbance, CachePolicy policy, double call_ns,
               double turn_ns) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const int64_t calls = calls_per_sample(policy, std::min(call_ns, kernel.run()), kSampleNs);
  Turn turn;
  std::array<double, kSlices> lowest{};
  lowest.fill(kNever);
  double set_aside = kNever;
  const int64_t begin = now_ns();
  do {
    const size_t slice = std::min(
        kSlices - 1, static_cast<size_t>(turn.elapsed_ns * kSlices / std::max(turn_ns, 1.0)));
    disturbance.begin_sample();
    const double sample = kernel.sample(policy, calls);
    if (disturbance.disturbed()) {
      ++turn.disturbed;
      set_aside = std::min(set_aside, sample);
    } else {
      turn.samples_ns.push_back(sample);
      lowest[slice] = std::min(lowest[slice], sample);
    }
    turn.elapsed_ns = static_cast<double>(now_ns() - begin);
  } while (turn.elapsed_ns < turn_ns);
  if (turn.samples_ns.empty()) {
    turn.samples_ns.push_back(set_aside);
    lowest[0] = set_aside;
  }
  std::ranges::copy_if(lowest, std::back_inserter(turn.kept_ns),
                       [](double sample) { return sample < kNever; });
  return turn;
}

}  // namespace tilewright::measure
