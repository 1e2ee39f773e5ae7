#include "runtime/host/timer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright::runtime {
namespace {

TEST(Timing, QuantilesAreLinearBetweenSamples) {
  const Timing timing{.samples_ns = {10, 20, 30, 40, 50}};
  EXPECT_EQ(timing.min(), 10);
  EXPECT_EQ(timing.median(), 30);
  EXPECT_EQ(timing.quantile(1), 50);
  EXPECT_DOUBLE_EQ(timing.low(), 14);
}

TEST(TimeCall, CountsItsCalls) {
  int calls = 0;
  const Timing timing =
      time_call([&] { ++calls; }, {.warm_up = 2, .repeats = 5, .min_sample_us = 0});
  EXPECT_EQ(timing.samples_ns.size(), 5U);
  EXPECT_EQ(timing.calls_per_sample, 1);
  EXPECT_EQ(calls, 2 + 1 + 5);
  EXPECT_TRUE(std::is_sorted(timing.samples_ns.begin(), timing.samples_ns.end()));
}

TEST(TimeCall, RepeatsShortCalls) {
  int64_t calls = 0;
  const Timing timing =
      time_call([&] { ++calls; }, {.warm_up = 1, .repeats = 3, .min_sample_us = 100});
  EXPECT_EQ(calls, 2 + 3 * timing.calls_per_sample);
  EXPECT_GE(timing.min(), 0);
}

}  // namespace
}  // namespace tilewright::runtime
