#include "app/kernel_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

// 100 GFLOP/s; a cache of 1 KB at 50 GB/s, one of 1 MB at 20, memory at 10; copying is half as
// fast.
MachineRates rates() {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  return {
      .gflops = 100,
      .levels = {{.name = "L1", .holds_bytes = 1'000, .read_gb_per_s = 50, .copy_gb_per_s = 25},
                 {.name = "L2", .holds_bytes = 1'000'000, .read_gb_per_s = 20, .copy_gb_per_s = 10},
                 {.name = "memory", .holds_bytes = kAny, .read_gb_per_s = 10, .copy_gb_per_s = 5}}};
}

TilewrightTableFacts facts(double flop, int64_t constants, int64_t read, int64_t written) {
  TilewrightTableFacts row{};
  row.flop = flop;
  row.constant_bytes = constants;
  row.read_bytes = read;
  row.written_bytes = written;
  return row;
}

TEST(KernelLimit, IsTheSlowestOfArithmeticAndLevels) {
  struct Case {
    TilewrightTableFacts facts;
    double bytes_of_run;
    double ns;
    const char* what;
  };
  const Case cases[] = {
      {facts(1e6, 0, 400, 400), 800, 1e4, "FMA"},
      {facts(0, 0, 500, 0), 500, 10, "L1"},
      {facts(0, 0, 1'000, 0), 1'000, 20, "L1"},  // they just fit
      {facts(0, 0, 1'001, 0), 1'001, 1'001 / 20.0, "L2"},
      // 400 bytes are copied, and 200 only read.
      {facts(0, 0, 600, 400), 1'000, 800 / 25.0 + 200 / 50.0, "L1"},
      {facts(0, 0, 400, 600), 1'000, 800 / 25.0 + 200 / 50.0, "L1"},
      {facts(0, 0, 2'000'000, 0), 2e6, 2e5, "memory"},
      // The constants come from memory, because the other kernels need the caches in between.
      {facts(0, 500, 400, 0), 2e6, 50, "memory"},
      {facts(0, 500, 400, 0), 1e5, 25, "L2"},
      {facts(0, 500, 400, 0), 900, 18, "L1"},
      // Nearly all operands are activations, which the kernel before has written.
      {facts(0, 10, 900, 0), 2e6, 910 / 50.0, "L1"},
      // Constants that are shared, and counted once, are at least as far as the operands.
      {facts(0, 1'500'000, 0, 0), 1e3, 1.5e5, "memory"},
  };
  for (const Case& one : cases) {
    const KernelLimit limit = limit_of(one.facts, one.bytes_of_run, rates());
    EXPECT_DOUBLE_EQ(limit.ns, one.ns) << one.what;
    EXPECT_EQ(limit.what, one.what) << one.ns;
  }
}

// Four steps of three kernels; a fourth one is not called.
struct Model {
  TilewrightTableFacts facts[4] = {app::facts(1e6, 0, 0, 0), app::facts(2e6, 300, 100, 100),
                                   app::facts(0, 100, 0, 0), app::facts(1, 0, 0, 0)};
  TilewrightTableStep steps[4] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}};
  const char* titles[4] = {"second", "first", "second again", "third"};
  TilewrightTensorInfo input{}, output{};
  TilewrightModelTable table{};
  TilewrightModelApi api{};

  Model() {
    table.version = TILEWRIGHT_TABLE_VERSION;
    table.kernel_count = 4;
    table.steps = steps;
    table.facts = facts;
    table.arena_bytes = 1'000;
    table.constant_bytes = 10'000;
    input.bytes = 20;
    output.bytes = 3;
    api.input_count = api.output_count = 1;
    api.inputs = &input;
    api.outputs = &output;
    api.step_count = 4;
    api.step_titles = titles;
    api.table = &table;
  }
};

TEST(KernelLosses, AreSortedAndCountAllCalls) {
  const Model model;
  const std::vector<KernelLoss> losses = kernel_losses(model.api, {3e4, 1.5e4, 3.5e4, 2}, rates());
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[0].title, "second");
  EXPECT_EQ(losses[0].kernel, 1U);
  EXPECT_EQ(losses[0].calls, 2U);
  EXPECT_EQ(losses[0].ns, 6.5e4);
  EXPECT_EQ(losses[0].limit_ns(), 4e4);
  EXPECT_EQ(losses[0].lost_ns(), 2.5e4);
  EXPECT_DOUBLE_EQ(losses[0].of_limit(), 4 / 6.5);
  EXPECT_EQ(losses[1].title, "first");
  EXPECT_EQ(losses[1].lost_ns(), 5e3);
  // Faster than its limit: it loses nothing, but nothing is gained either.
  EXPECT_EQ(losses[2].title, "third");
  EXPECT_EQ(losses[2].lost_ns(), 0);
  EXPECT_GT(losses[2].of_limit(), 1);
}

TEST(KernelLosses, CountTheBytesOfARun) {
  Model model;
  EXPECT_EQ(bytes_of_run(model.api), 2 * 300 + 100 + 1'000 + 20 + 3);
  model.table.constant_bytes = 400;  // the kernels share constants
  EXPECT_EQ(bytes_of_run(model.api), 400 + 1'000 + 20 + 3);
}

TEST(KernelLosses, AnOlderLibraryIsToBeCompiledAgain) {
  Model model;
  EXPECT_TRUE(check_facts(model.api, "a.so").has_value());
  model.table.version = TILEWRIGHT_TABLE_VERSION + 1;
  EXPECT_TRUE(check_facts(model.api, "a.so").has_value());
  model.table.version = 2;
  model.table.facts = nullptr;
  const Status older = check_facts(model.api, "a.so");
  ASSERT_FALSE(older.has_value());
  EXPECT_THAT(older.error().message, HasSubstr("a.so was compiled by an older version"));
  ASSERT_EQ(older.error().jobs.size(), 1U);
  EXPECT_EQ(older.error().jobs[0].job, "compile");
}

}  // namespace
}  // namespace tilewright::app
