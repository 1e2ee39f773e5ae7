// The observations of the machine that need no timing.
#include "measure/disturbance.h"

#include <gtest/gtest.h>

#include <vector>

#include "target/host_cache_lines.h"

namespace tilewright::measure {
namespace {

TEST(Disturbance, ParsesCountersOfTheKernel) {
  EXPECT_EQ(parse_steal("cpu  1534476 2111741 328677 934248 2206 0 554 4444 0 0\ncpu0 1 2"), 4444);
  EXPECT_EQ(parse_steal("cpu  1 2 3 4"), 0);
  EXPECT_EQ(parse_steal(""), 0);
  EXPECT_EQ(parse_runnable("3.60 4.19 3.15 4/102 13019\n"), 4);
  EXPECT_EQ(parse_runnable("nonsense"), 0);
}

TEST(Disturbance, ClockIsAShareOfTheBest) {
  Disturbance disturbance;
  for (int k = 0; k < 10; ++k) {
    const double clock = disturbance.clock();
    EXPECT_GT(clock, 0);
    EXPECT_LE(clock, 1);
  }
}

TEST(Eviction, PreservesContents) {
  std::vector<std::byte> memory(100001, std::byte{7});
  const std::vector<std::byte> before = memory;
  evict_cache_lines(memory);
  evict_cache_lines(std::span(memory).subspan(3, 1));
  evict_cache_lines({});
  EXPECT_EQ(memory, before);
}

}  // namespace
}  // namespace tilewright::measure
