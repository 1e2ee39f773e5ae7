#include "app/target_choice.h"

#include <gtest/gtest.h>

#include "target/machine.h"

namespace tilewright::app {
namespace {

TEST(TargetChoice, ThreadsAreGivenOnce) {
  EXPECT_EQ(target_of({.target = "x86-64-v3", .threads = 0}, 5)->threads(), 5);
  EXPECT_EQ(target_of({.target = "x86-64-v3", .threads = 3}, 5)->threads(), 3);
  EXPECT_EQ(target_of({.target = "x86-64-v3;threads=7", .threads = 0}, 5)->threads(), 7);
  EXPECT_FALSE(target_of({.target = "x86-64-v3;threads=7", .threads = 3}, 5).has_value());
  EXPECT_EQ(target_of({.target = {}, .threads = kMaxThreads}, 5)->threads(), kMaxThreads);
  EXPECT_FALSE(target_of({.target = {}, .threads = kMaxThreads + 1}, 5).has_value());
  EXPECT_FALSE(target_of({.target = {}, .threads = -1}, 5).has_value());
  EXPECT_TRUE(target_of({.target = "cuda:sm_90", .threads = 0}, 5).has_value());
  const Result<Target> device = target_of({.target = "cuda:sm_90", .threads = 3}, 5);
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().message,
            "the number of threads is for CPUs; leave it out for the target cuda:sm_90");
  EXPECT_EQ(device.error().options, (std::vector<OptionHint>{{"threads", ""}}));
  EXPECT_EQ(compiled_target_of({.target = "x86-64-v3", .threads = 0})->threads(),
            static_cast<int>(detect_machine().cpus.size()));
}

}  // namespace
}  // namespace tilewright::app
