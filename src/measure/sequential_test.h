// When to stop timing: pure logic without a clock. Noise on a machine only ever adds time, so the
// lowest samples say what the code costs. After each sample:
//
//   a loser, whose lowest sample is above the incumbent by more than a margin, is done. The margin
//   tightens with the number n of samples: 100 % after 2 samples, then 0.5 / (n - 2), but not below
//   3 %: 50 % after 3, 25 % after 4, 5 % after 12
//   others are done when their three lowest samples agree within 0.5 % (contenders for the best)
//   or 1 %, after 12 or 8 samples at least
//   everybody is done after 64 samples, or when the time is up: 40 ms for a contender, whose lowest
//   sample is below 1.05 of the incumbent, or where there is none; 12 ms for the rest; but never
//   before 5 or 3 samples, nor within the first millisecond (4 ms below 1.3 of the incumbent: the
//   slow spells of a machine last that long); where it is not quiet, nor within 6 ms, longer than
//   others mostly keep a cpu
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

  // One more sample; `elapsed_ns` since sampling began; `quiet`: nothing was disturbed so far.
  // Whether it was the last one needed.
  bool add(double sample_ns, double elapsed_ns, bool quiet = true);

  bool clearly_slower() const;  // the lowest sample is above the incumbent by more than the margin
  std::span<const double> samples() const { return samples_; }  // in the order taken
  double latency_ns() const;  // the low quantile (10 %), linear between samples

 private:
  double least_time(bool quiet) const;
  bool contends() const;
  bool agrees() const;

  double incumbent_ns_;
  std::vector<double> samples_;
  std::vector<double> ascending_;
};

// Of the samples of a kernel: what it takes where nothing disturbs it.
inline constexpr double kLowQuantile = 0.1;

}  // namespace tilewright::measure
