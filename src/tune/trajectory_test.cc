#include "tune/trajectory.h"

#include <gtest/gtest.h>

#include "record/record_testing.h"

namespace tilewright::tune {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using record::Store;

TEST(Trajectory, IsFoundByItsKey) {
  const ScratchFolder folder;
  Store store = must(Store::open(folder / "a.db"));
  const Trajectory first = must(enter_trajectory(store, {1, 2}, "tune x", "1"));
  EXPECT_TRUE(first.is_new());
  const Trajectory other = must(enter_trajectory(store, {1, 3}, "tune x", "1"));
  EXPECT_TRUE(other.is_new());
  const Trajectory again = must(enter_trajectory(store, {1, 2}, "tune x --trials 9", "1"));
  EXPECT_FALSE(again.is_new());
  EXPECT_EQ(again.begin_us, first.begin_us);
  EXPECT_EQ(again.runs.size(), 1U);
  // The command is only for display and does not define a trajectory.
  const std::string text = must(store.find_run(*again.runs.begin()))->command;
  EXPECT_EQ(text, "tune x");
  must(store.put_run({.id = {8, 8},
                      .start_us = 1,
                      .command = "tune x (trajectory 00000000000000010000000000000004)",
                      .version = "1"}));
  EXPECT_TRUE(must(enter_trajectory(store, {1, 4}, "tune x", "1")).is_new());
}

// Only an uninterrupted run counts, and only for budgets up to its budget.
TEST(Trajectory, StoresCompletedBudgets) {
  const ScratchFolder folder;
  Store store = must(Store::open(folder / "a.db"));
  const auto enter = [&] { return must(enter_trajectory(store, {1, 2}, "tune x", "1")); };
  const Trajectory first = enter();
  EXPECT_FALSE(first.has_completed({.trials = 1, .seconds = 0}));
  EXPECT_FALSE(enter().has_completed({.trials = 1, .seconds = 0}));
  must(record_completed(store, first, {.trials = 40, .seconds = 0}));
  EXPECT_TRUE(enter().has_completed({.trials = 40, .seconds = 0}));
  EXPECT_FALSE(enter().has_completed({.trials = 41, .seconds = 0}));
  EXPECT_FALSE(enter().has_completed({.trials = 0, .seconds = 10}));
  must(record_completed(store, first, {.trials = 90, .seconds = 12.5}));
  EXPECT_TRUE(enter().has_completed({.trials = 0, .seconds = 12.5}));
  EXPECT_FALSE(enter().has_completed({.trials = 0, .seconds = 13}));
  EXPECT_TRUE(enter().has_completed({.trials = 1000, .seconds = 12}));  // the time would end it
  EXPECT_EQ(enter().begin_us, first.begin_us);
  EXPECT_TRUE(must(enter_trajectory(store, {1, 3}, "tune x", "1")).completed.empty());
}

}  // namespace
}  // namespace tilewright::tune
