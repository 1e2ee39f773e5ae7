#include "app/bench.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "app/compile.h"
#include "app/small_model_testing.h"
#include "runtime/abi/model_table.h"

namespace tilewright::app {
namespace {

// Four steps of three kernels: tuned to 100 us, to 1 us, and not at all.
struct TunedModel {
  TilewrightTableKernel kernels[3] = {{nullptr, 0, 0, 100'000}, {nullptr, 0, 0, 1'000}, {}};
  TilewrightTableStep steps[4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}, {2, 0, 0, 0}};
  const char* titles[4] = {"softmax", "relu", "softmax", "matmul"};
  TilewrightModelTable table{};
  TilewrightModelApi api{};

  TunedModel() {
    table.version = TILEWRIGHT_TABLE_VERSION;
    table.kernel_count = 3;
    table.kernels = kernels;
    table.steps = steps;
    api.threads = 2;
    api.step_count = 4;
    api.step_titles = titles;
    api.table = &table;
  }
};

measure::ModelTiming timing_of(std::vector<double> steps_ns) {
  measure::ModelTiming timing;
  timing.steps_ns = std::move(steps_ns);
  return timing;
}

TEST(Bench, ReportsKernelsThatTakeTwiceTheirTunedTime) {
  TunedModel model;
  EXPECT_TRUE(find_slow_kernels(model.api, 2, timing_of({199e3, 5e3, 101e3, 9e6})).empty());
  const std::vector<SlowKernel> slow =
      find_slow_kernels(model.api, 2, timing_of({150e3, 12e3, 1.4e6, 9e6}));
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].title, "softmax");
  EXPECT_EQ(slow[0].slow_calls, 1U);
  EXPECT_EQ(slow[0].calls, 2U);
  EXPECT_EQ(slow[0].ns, 1.4e6);
  EXPECT_EQ(slow[0].tuned_ns, 100e3);
  EXPECT_EQ(slow[1].title, "relu");
  // With other threads it has no tuned time, nor has a library of an older version.
  EXPECT_TRUE(find_slow_kernels(model.api, 1, timing_of({1e9, 1e9, 1e9, 1e9})).empty());
  model.table.version = 1;
  EXPECT_TRUE(find_slow_kernels(model.api, 2, timing_of({1e9, 1e9, 1e9, 1e9})).empty());
}

// Its instance pins the calling thread.
TEST(Bench, AnErrorAfterTheFirstModelLeavesTheAffinityOfTheCaller) {
  const SmallModel small;
  CompileListener silent;
  const std::string so = small / "small.so", broken = small / "broken.so";
  const auto compiled = compile({.model = {.what = small.model_file()},
                                 .target = {.target = {}, .threads = 1},
                                 .records = kNoRecords,
                                 .output = so},
                                silent, {});
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
  ASSERT_TRUE(write_file_atomically(broken, "nonsense").has_value());
  cpu_set_t before{}, after{};
  sched_getaffinity(0, sizeof before, &before);
  BenchListener listener;
  EXPECT_FALSE(bench({.what = {so, broken}, .records = kNoRecords}, listener, {}).has_value());
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_NE(CPU_EQUAL(&before, &after), 0);
}

}  // namespace
}  // namespace tilewright::app
