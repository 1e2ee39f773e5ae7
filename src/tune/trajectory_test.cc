#include "tune/trajectory.h"

#include <gtest/gtest.h>

#include "record/record_testing.h"

namespace tilewright::tune {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using record::Attempt;
using record::Store;

const char* const kMatmul = "matmul:m=16,n=16,k=16";

record::Setting setting_of(const Attempt& attempt) {
  return {.task = attempt.task,
          .machine = attempt.machine,
          .protocol = attempt.protocol,
          .code_generator = attempt.code_generator};
}

TEST(Trajectory, IsFoundAgainByItsMark) {
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
}

// Only a run that ended by itself counts, and only for budgets up to its own.
TEST(Trajectory, RemembersHowFarItWasWalked) {
  const ScratchFolder folder;
  Store store = must(Store::open(folder / "a.db"));
  const auto enter = [&] { return must(enter_trajectory(store, {1, 2}, "tune x", "1")); };
  const Trajectory first = enter();
  EXPECT_FALSE(first.was_walked({.trials = 1, .seconds = 0}));
  EXPECT_FALSE(enter().was_walked({.trials = 1, .seconds = 0}));
  must(record_completed(store, first, {.trials = 40, .seconds = 0}));
  EXPECT_TRUE(enter().was_walked({.trials = 40, .seconds = 0}));
  EXPECT_FALSE(enter().was_walked({.trials = 41, .seconds = 0}));
  EXPECT_FALSE(enter().was_walked({.trials = 0, .seconds = 10}));
  must(record_completed(store, first, {.trials = 90, .seconds = 12.5}));
  EXPECT_TRUE(enter().was_walked({.trials = 0, .seconds = 12.5}));
  EXPECT_FALSE(enter().was_walked({.trials = 0, .seconds = 13}));
  EXPECT_TRUE(enter().was_walked({.trials = 1000, .seconds = 12}));  // the time would end it
  EXPECT_EQ(enter().begin_us, first.begin_us);
  EXPECT_TRUE(must(enter_trajectory(store, {1, 3}, "tune x", "1")).walked.empty());
}

// Verdicts of one program: before the trajectory began, its own, and later ones of others.
TEST(Trajectory, LaterVerdictsOfOthersChangeNothing) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const record::Run own = {.id = {7, 7}, .start_us = 1000, .command = "t", .version = "1"};
  must(store.put_run(own));
  const auto attempt = [&](int64_t end_us, double latency_ns, bool is_own) {
    Attempt made = timed(task, 1);
    made.program = {5, 5};
    if (is_own) made.run = own.id;
    made.sequence = end_us;
    made.start_us = end_us - 10;
    made.end_us = end_us;
    made.verdict.latency_ns = latency_ns;
    return made;
  };
  const Trajectory trajectory{
      .key = {}, .command = {}, .version = {}, .begin_us = 1000, .runs = {own.id}};
  const auto seen = [&](const Attempt& added) {
    must(store.append({&added, 1}));
    const KnownTrials known = must(load_known(store, setting_of(added), trajectory));
    EXPECT_EQ(known.trials.size(), 1U);
    return known.trials.begin()->second.trial.trial.latency_ns;
  };
  EXPECT_EQ(seen(attempt(2000, 20, false)), 20);  // of another run, later
  EXPECT_EQ(seen(attempt(2500, 25, false)), 20);  // and once more: the first stays
  EXPECT_EQ(seen(attempt(500, 5, false)), 5);     // known when it began
  EXPECT_EQ(seen(attempt(600, 6, false)), 6);     // the last of those
  EXPECT_EQ(seen(attempt(1500, 15, true)), 15);   // its own
  EXPECT_EQ(seen(attempt(1700, 17, true)), 15);   // the first of its own
  EXPECT_EQ(seen(attempt(3000, 30, false)), 15);
}

TEST(Trajectory, LearnsOnlyFromWhatWasThereBefore) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  std::vector<Attempt> attempts;
  for (int k = 0; k < 6; ++k) {
    Attempt made = timed(task, k + 1);
    made.program = {5, static_cast<uint64_t>(k)};
    made.start_us = 100 * k;
    made.end_us = 100 * k + 50;
    made.verdict.latency_ns = 10 - k;
    attempts.push_back(made);
  }
  must(store.append(attempts));
  const Trajectory trajectory{.key = {}, .command = {}, .version = {}, .begin_us = 300};
  const KnownTrials known = must(load_known(store, setting_of(attempts[0]), trajectory));
  EXPECT_EQ(known.trials.size(), 6U);
  const std::vector<PastTrial> past = known.before();
  ASSERT_EQ(past.size(), 3U);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(past[k].proposal.program.low, k);
  const auto fastest = known.fastest(2);
  ASSERT_EQ(fastest.size(), 2U);
  EXPECT_EQ(fastest[0]->trial.proposal.program.low, 5U);
}

}  // namespace
}  // namespace tilewright::tune
