#include "schedule/launch_limits.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

const Target kDevice = *parse_target("cuda:sm_80");

TEST(LaunchLimits, EachAxisAndTheBlock) {
  const Workbench bench("matmul:m=128,n=64,k=8");
  const auto fault = [&](const std::string& steps, const Target& target = kDevice) {
    return launch_fault(bench.tree(steps), target);
  };
  EXPECT_FALSE(fault(""));
  EXPECT_FALSE(fault("", *parse_target("x86-64")));
  EXPECT_FALSE(fault("bind C i block_x\nbind C j thread_x"));
  EXPECT_FALSE(fault("bind C j thread_z"));
  EXPECT_FALSE(
      fault("split C i [16]\nbind C i.0 virtual_thread\nbind C i.1 thread_y\n"
            "bind C j thread_x"));  // 16 * 64 is a whole block
  const auto loop = fault("bind C i thread_z");
  ASSERT_TRUE(loop);
  EXPECT_EQ(bench.tree("bind C i thread_z").var(loop->loop).name.text(), "i");
  EXPECT_EQ(loop->wanted, 128);
  EXPECT_EQ(loop->limit, 64);
  const auto block = fault("split C i [17]\nbind C i.1 thread_y\nbind C j thread_x");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->loop, kNone);
  EXPECT_EQ(block->wanted, 17 * 64);
  EXPECT_EQ(block->limit, 1024);
  const auto cpu = fault("bind C j thread_x", *parse_target("x86-64"));
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->limit, 0);
}

// The block of a launch contains attached stages; another stage at root has a separate block.
TEST(LaunchLimits, RootStageIsALaunch) {
  const Workbench bench("matmul:m=128,n=64,k=32");
  const std::string threads = "split C i [32]\nbind C i.0 block_x\nbind C j thread_x\n";
  const std::string copy = "cache_read B [C]\n";
  EXPECT_FALSE(launch_fault(bench.tree(threads + copy + "bind B.read d0 thread_y"), kDevice));
  const auto attached = launch_fault(bench.tree("cache_read B [C] scope=shared\n" + threads +
                                                "compute_at B.read C i.0\nbind B.read d0 thread_y"),
                                     kDevice);
  ASSERT_TRUE(attached);
  EXPECT_EQ(attached->wanted, 32 * 64);
}

}  // namespace
}  // namespace tilewright::schedule::testing
