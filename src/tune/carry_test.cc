#include "tune/carry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heuristic/default_trace.h"
#include "schedule/find_genome.h"
#include "tune/chains_testing.h"
#include "tune/donors.h"
#include "tune/fake_trials_testing.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {
namespace {

Task task_for(const char* what) {
  return {.workload = *parse_workload(what), .target = *parse_target("x86-64-v3;threads=2")};
}

// The proposals of one round of a search of another task.
std::vector<Donation> donations_of(const char* what, size_t count) {
  Result<TaskTuner> tuner = TaskTuner::make(task_for(what), detect_machine(), quick_options());
  if (!tuner) throw std::runtime_error(tuner.error().message);
  FakeTrials trials;
  std::vector<Donation> donations;
  const auto report =
      tuner->try_round(trials, 100, [&](const Proposal& proposal, const Trial& /*trial*/) {
        donations.push_back({.trace = proposal.trace});
      });
  if (!report) throw std::runtime_error(report.error().message);
  donations.resize(std::min(count, donations.size()));
  return donations;
}

const char* const kSimilar = "matmul:m=128,n=96,k=32";

TaskTuner tuner_with(std::vector<Donation> donations,
                     const TaskTunerOptions& options = quick_options()) {
  TaskTuner tuner = make_tuner(options);
  tuner.begin_with(std::move(donations));
  return tuner;
}

TEST(Carry, TheFirstRoundIsTheDefaultAndTheCarriedOnes) {
  TaskTuner tuner = tuner_with(donations_of(kSimilar, 20));
  FakeTrials trials;
  const RoundReport first = play(tuner, trials);
  EXPECT_EQ(first.carried, kMaxCarried);
  EXPECT_EQ(first.proposed, kMaxCarried + 1);
  EXPECT_TRUE(first.complete);
  EXPECT_FALSE(first.quality);  // no model chose them
  ASSERT_TRUE(tuner.default_trial());
  EXPECT_EQ(trials.measured.front(), tuner.default_trial()->attempt);
  const std::set<Hash128> carried(tuner.carried().begin(), tuner.carried().end());
  EXPECT_EQ(carried, std::set<Hash128>(trials.measured.begin() + 1, trials.measured.end()));
  // Then as without them, and none of them again.
  for (const size_t size : {24U, 32U, 48U}) {
    const RoundReport next = play(tuner, trials);
    EXPECT_EQ(next.proposed, size);
    EXPECT_EQ(next.carried, 0U);
    EXPECT_EQ(next.stored, 0U);
  }
  EXPECT_EQ(tuner.carried().size(), kMaxCarried);
  EXPECT_EQ(tuner.samples().size(), trials.measured.size());
}

// The number of proposals that differ from a schedule in at most one choice.
size_t twins_of(const schedule::Trace& schedule, std::span<const schedule::Trace> proposals) {
  const space::Space space = space::Space::make(small_task()).value();
  size_t twins = 0;
  for (const schedule::Sketch& sketch : space.sketches()) {
    const auto own = schedule::find_genome(sketch, schedule);
    if (!own) continue;
    for (const schedule::Trace& proposal : proposals) {
      const auto other = schedule::find_genome(sketch, proposal);
      if (!other) continue;
      size_t different = 0;
      for (size_t k = 0; k < own->genes.size(); ++k) {
        different += own->genes[k] != other->genes[k] ? 1 : 0;
      }
      twins += different <= 1 ? 1 : 0;
    }
  }
  return twins;
}

TEST(Carry, ExplorersVaryTheCarriedCandidates) {
  TaskTunerOptions options = quick_options();
  options.cost = {.name = "none"};
  TaskTuner tuner = tuner_with(donations_of(kSimilar, 20), options);
  tuner.propose();
  const Hash128 fastest = tuner.carried().back();
  FakeTrials trials;
  trials.given[fastest] = 10;
  play(tuner, trials);
  ASSERT_EQ(tuner.best()->proposal.program, fastest);
  std::vector<schedule::Trace> next;
  ASSERT_TRUE(tuner.try_round(trials, 1000,
                              [&](const Proposal& p, const Trial&) { next.push_back(p.trace); }));
  EXPECT_GE(twins_of(tuner.best()->proposal.trace, next), 2U);
}

TEST(Carry, ASmallRoundHasFewer) {
  TaskTunerOptions options = quick_options();
  for (const size_t largest : {1U, 2U, 5U}) {
    options.largest_round = largest;
    TaskTuner tuner = tuner_with(donations_of(kSimilar, 20), options);
    FakeTrials trials;
    EXPECT_EQ(play(tuner, trials).carried, std::max<size_t>(largest - 1, 1));
  }
}

TEST(Carry, EachProgramIsCarriedOnceAndTheDefaultNever) {
  const Task task = small_task();
  std::vector<Donation> donations = donations_of(kSimilar, 2);
  donations.push_back(donations[1]);
  donations.push_back({.trace = *heuristic::default_trace(task.workload, task.target)});
  donations.push_back(donations[1]);
  TaskTuner tuner = tuner_with(donations);
  FakeTrials trials;
  play(tuner, trials);
  EXPECT_EQ(std::ranges::count(trials.measured, tuner.default_trial()->attempt), 1);
  const std::set<Hash128> distinct(trials.measured.begin(), trials.measured.end());
  EXPECT_EQ(distinct.size(), trials.measured.size());
  EXPECT_LE(tuner.carried().size(), 3U);
}

// The product keeps its schedule between other elementwise operators.
TEST(Carry, SchedulesOfTheOtherHalfOfAResidualBlock) {
  const Task task = product_and_adds(2, 64, "x86-64-v3;threads=2");
  for (const int adds : {1, 3}) {
    const Task donor = product_and_adds(adds, 64, "x86-64-v3;threads=2");
    const auto make = [](const Task& one) {
      Result<TaskTuner> tuner = TaskTuner::make(one, detect_machine(), quick_options());
      if (!tuner) throw std::runtime_error(tuner.error().message);
      return std::move(*tuner);
    };
    TaskTuner donating = make(donor), receiving = make(task);
    FakeTrials trials;
    play(donating, trials);
    const Sibling sibling{.task = &donor, .fastest = donating.fastest()};
    std::vector<Donation> donations =
        Donors(nullptr, {}, 0).donations_for(task, {&sibling, 1}).value();
    ASSERT_EQ(donations.size(), kKeptFastest);
    receiving.begin_with(std::move(donations));
    EXPECT_GE(play(receiving, trials).carried, 2U) << adds;
  }
}

// A schedule of the same task is proposed as it was.
TEST(Carry, OwnSchedulesComeBack) {
  FakeTrials before;
  std::vector<Donation> donations;
  {
    TaskTuner tuner = make_tuner(quick_options());
    play(tuner, before);
    for (const Best& one : tuner.fastest()) {
      donations.push_back({.trace = one.proposal.trace, .same_extents = true});
    }
    ASSERT_EQ(donations.size(), kKeptFastest);
    EXPECT_EQ(tuner.fastest().front().proposal.program, tuner.best()->proposal.program);
    EXPECT_TRUE(std::ranges::is_sorted(tuner.fastest(), {},
                                       [](const Best& one) { return one.trial.latency_ns; }));
  }
  TaskTuner again = tuner_with(donations);
  const size_t stored = play(again, before).stored;
  EXPECT_GE(again.carried().size(), kKeptFastest - 1);  // one may be the default schedule
  EXPECT_EQ(stored, again.carried().size() + 1);
}

// Donors without a resemblance leave the search as it is, to the last candidate.
TEST(Carry, AHopelessDonorDoesNoHarm) {
  std::vector<Donation> hopeless = donations_of("softmax:m=64,n=48", 10);
  for (const char* const text :
       {"split C nowhere [4]\n", "cache_write Z\n", "split C i [0]\nsplit C j [9, 9, 9, 9]\n"}) {
    hopeless.push_back({.trace = *schedule::trace_from_text(text)});
  }
  hopeless.push_back({});
  FakeTrials plain, with;
  TaskTuner without = make_tuner(quick_options());
  TaskTuner tuner = tuner_with(hopeless);
  for (int round = 0; round < 3; ++round) {
    play(without, plain);
    EXPECT_EQ(play(tuner, with).carried, 0U);
  }
  EXPECT_EQ(with.measured, plain.measured);
}

TEST(Carry, ASearchIsRebuiltWhereverItWasCut) {
  const std::vector<Donation> donations = donations_of(kSimilar, 20);
  FakeTrials whole;
  {
    TaskTuner tuner = tuner_with(donations);
    for (int round = 0; round < 4; ++round) play(tuner, whole);
  }
  for (const int64_t cut : {1, 5, 9, 10, 33, 50}) {
    FakeTrials trials;
    trials.left = cut;
    {
      TaskTuner tuner = tuner_with(donations);
      while (play(tuner, trials).complete) {
      }
      const size_t rounds = tuner.rounds();
      EXPECT_EQ(tuner.fastest().empty(), rounds == 0);  // an unfinished round does not count
    }
    trials.left = -1;
    TaskTuner tuner = tuner_with(donations);
    size_t stored = 0;
    for (int round = 0; round < 4; ++round) stored += play(tuner, trials).stored;
    EXPECT_EQ(stored, static_cast<size_t>(cut));
    EXPECT_THAT(trials.measured, testing::UnorderedElementsAreArray(whole.measured));
  }
}

TEST(Carry, AStopWhileConvertingEndsTheRound) {
  TaskTunerOptions options = quick_options();
  bool stop = true;
  options.stop = [&] { return stop; };
  TaskTuner tuner = tuner_with(donations_of(kSimilar, 20), options);
  tuner.propose();
  stop = false;
  FakeTrials trials;
  const RoundReport report = play(tuner, trials);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.tried, 0U);
  EXPECT_TRUE(tuner.carried().empty());
}

TEST(Carry, EverySearchAcceptsCarriedCandidates) {
  const std::vector<Donation> donations = donations_of(kSimilar, 20);
  for (const search::ExplorerRow& row : search::explorers().rows()) {
    TaskTunerOptions options = quick_options();
    if (row.name != options.search.name) options.search = {.name = row.name};
    TaskTuner tuner = tuner_with(donations, options);
    FakeTrials trials;
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(play(tuner, trials).stored, 0U) << row.name;
    }
    EXPECT_EQ(trials.measured.size(), kMaxCarried + 1 + 24 + 32) << row.name;
  }
}

}  // namespace
}  // namespace tilewright::tune
