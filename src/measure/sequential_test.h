// SequentialTest: decides when to stop timing. Pure logic without a clock. Noise only adds time, so
// the lowest samples are the best estimate of the cost. After each sample:
//
//   loser       the lowest sample exceeds the incumbent by more than a margin: stop. The margin
//               shrinks with the number n of samples: 100 % after 2 samples, then 0.5 / (n - 2), at
//               least 3 %: 50 % after 3, 25 % after 4, 5 % after 12
//   contender   below 1.05 times the incumbent, or there is no incumbent: stop after at least 12
//               samples if the three lowest agree within 0.5 %, or after 40 ms and 5 samples
//   other       stop after at least 8 samples if the three lowest agree within 1 %, or after 12 ms
//               and 3 samples
//   all         stop after 64 samples; never within the first millisecond, nor within 4 ms below
//               1.3 times the incumbent (slow phases of a machine last that long), nor within 6 ms
//               after a disturbance (longer than most other processes keep a CPU)
//
// The constants are part of the protocol (record/protocol.h). Durations in nanoseconds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewright::measure {

class SequentialTest {
 public:
  explicit SequentialTest(double incumbent_ns) : incumbent_ns_(incumbent_ns) {}  // 0: none

  // Adds a sample. `elapsed_ns`: since sampling began; `quiet`: no disturbance so far. Returns true
  // if no more samples are needed.
  bool add(double sample_ns, double elapsed_ns, bool quiet = true);

  bool clearly_slower() const;  // the lowest sample exceeds the incumbent by more than the margin
  std::span<const double> samples() const { return samples_; }  // in the order taken
  double latency_ns() const;  // the low quantile (10 %), interpolated linearly

 private:
  double min_time(bool quiet) const;
  bool contends() const;
  bool agrees() const;

  double incumbent_ns_;
  std::vector<double> samples_;
  std::vector<double> ascending_;
};

// The quantile of the samples that estimates the undisturbed latency.
inline constexpr double kLowQuantile = 0.1;

}  // namespace tilewright::measure
