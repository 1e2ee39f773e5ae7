#include "tune/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "feature/program_encoder.h"
#include "record/record_testing.h"
#include "schedule/apply.h"
#include "space/space.h"
#include "tune/fake_trials_testing.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using record::Attempt;
using record::Store;

const char* const kMatmul = "matmul:m=64,n=48,k=32";
const char* const kSimilar = "matmul:m=64,n=48,k=40";
const char* const kOther = "softmax:m=32,n=64";

record::Setting setting_for(const Task& task) {
  const Attempt attempt = timed(task, 1);
  return {.task = task.key(),
          .machine = attempt.machine,
          .protocol = attempt.protocol,
          .code_generator = attempt.code_generator};
}

// Real traces of a task with made-up verdicts, as a search of it would leave them.
std::vector<Attempt> searched(const Task& task, size_t count, int64_t end_us) {
  Result<TaskTuner> tuner = TaskTuner::make(task, detect_machine(), quick_options());
  if (!tuner) throw std::runtime_error(tuner.error().message);
  FakeTrials trials;
  std::vector<Attempt> attempts;
  while (attempts.size() < count) {
    const auto report = tuner->try_round(trials, 1000, [&](const Proposal& p, const Trial& trial) {
      Attempt made = timed(task, static_cast<int64_t>(attempts.size()), trial.latency_ns);
      made.trace = schedule::to_text(p.trace);
      made.program = p.program;
      made.start_us = end_us - 10;
      made.end_us = end_us;
      made.verdict.kind = trial.kind;
      attempts.push_back(made);
    });
    if (!report || report->tried == 0) throw std::runtime_error("nothing tried");
  }
  attempts.resize(count);
  return attempts;
}

Trajectory beginning_at(int64_t begin_us) {
  return {.key = {}, .command = {}, .version = {}, .begin_us = begin_us};
}

class WarmStartOfStore : public ::testing::Test {
 protected:
  void add(const Task& task, std::vector<Attempt> attempts) {
    must(store_.put_task(task));
    must(store_.append(attempts));
  }
  OtherSamples others(int64_t begin_us, const WarmStartOptions& options = {}) {
    return must(samples_of_others(store_, task_, machine_named("one"), setting_for(task_),
                                  beginning_at(begin_us), {}, options));
  }

  ScratchFolder folder_;
  Task task_ = task_for(kMatmul);
  Store store_ = store_with(folder_ / "a.db", task_);
};

TEST_F(WarmStartOfStore, BorrowsEarlierSamplesOfTheSameTarget) {
  EXPECT_TRUE(others(1000).empty());
  add(task_for(kOther), searched(task_for(kOther), 20, 100));
  add(task_for(kSimilar), searched(task_for(kSimilar), 30, 200));
  add(task_, searched(task_, 25, 300));                               // its own are not others'
  add(task_for(kSimilar, 2), searched(task_for(kSimilar, 2), 9, 1));  // another target

  const OtherSamples found = others(1000);
  EXPECT_EQ(found.tasks, 2U);
  ASSERT_EQ(found.samples.size(), 50U);
  EXPECT_EQ(found.samples.inputs.at(0).programs(), 50U);
  EXPECT_THAT(found.samples.weight, ::testing::Each(0.3F));
  // The similar task comes first; each task is a separate group, and none is 0.
  EXPECT_EQ(std::ranges::count(found.samples.group, found.samples.group.front()), 30);
  EXPECT_THAT(found.samples.group, ::testing::Each(::testing::Gt(0U)));
  // Each group names its task: its programs are encoded again from their traces.
  std::vector<std::string> texts;
  for (const auto& [group, origin] : found.samples.origins) {
    texts.push_back(origin.task->workload.text);
    feature::Inputs again, kept;
    const schedule::LoopTree initial = must(schedule::initial_tree(origin.task->workload));
    const std::vector<std::string> names = {"features"};
    feature::ProgramEncoder encoder = must(feature::ProgramEncoder::make(
        {.task = origin.task.get(), .machine = origin.machine.get(), .initial = &initial}, names));
    for (size_t k = 0; k < found.samples.size(); ++k) {
      if (found.samples.group[k] != group) continue;
      feature::append(found.samples.inputs, k, k + 1, &kept);
      ASSERT_TRUE(encoder.append(must(schedule::trace_from_text(found.samples.trace[k])), &again));
    }
    EXPECT_EQ(again, kept);
  }
  EXPECT_EQ(texts.size(), 2U);
  EXPECT_NE(texts.front(), texts.back());

  // The replay rule: later records are never used.
  EXPECT_EQ(others(150).samples.size(), 20U);
  EXPECT_EQ(others(200).samples.size(), 20U);
  EXPECT_EQ(others(201).samples.size(), 50U);
  // The same of another machine is of others.
  std::vector<Attempt> elsewhere = searched(task_, 12, 400);
  must(store_.put_machine(machine_named("two")));
  for (Attempt& one : elsewhere) one.machine = record::machine_id(machine_named("two"));
  add(task_, elsewhere);
  EXPECT_EQ(others(1000).samples.size(), 62U);
  EXPECT_EQ(others(1000).tasks, 3U);
}

TEST_F(WarmStartOfStore, LimitsKeepTheFastestAndTheMostSimilar) {
  const std::vector<Attempt> similar = searched(task_for(kSimilar), 50, 200);
  add(task_for(kOther), searched(task_for(kOther), 20, 100));
  add(task_for(kSimilar), similar);
  double fastest = 1e30;
  for (const Attempt& one : similar) {
    if (one.verdict.latency_ns > 0) fastest = std::min(fastest, one.verdict.latency_ns);
  }
  const OtherSamples found = others(1000, {.max_programs = 24, .max_of_task = 16});
  EXPECT_EQ(found.samples.size(), 24U);
  EXPECT_EQ(std::ranges::count(found.samples.group, found.samples.group.front()), 16);
  EXPECT_EQ(found.samples.latency_ns.front(), fastest);
  EXPECT_EQ(others(1000, {.max_read = 10}).samples.size(), 10U);
  EXPECT_TRUE(others(1000, {.max_programs = 0}).empty());
}

TEST_F(WarmStartOfStore, UnreadableSamplesAreSkipped) {
  std::vector<Attempt> attempts = searched(task_for(kSimilar), 10, 200);
  attempts[2].trace = "hop C i\n";
  attempts[3].trace = "split C nowhere [4]\n";
  add(task_for(kSimilar), attempts);
  EXPECT_EQ(others(1000).samples.size(), 8U);
}

TEST_F(WarmStartOfStore, EnoughBorrowedSamplesGuideTheFirstRounds) {
  add(task_for(kSimilar), searched(task_for(kSimilar), 160, 200));
  const auto tuner_with = [&](size_t others_used) {
    cost::Samples samples;
    append_samples(others(1000).samples, others_used, &samples);
    Result<TaskTuner> tuner =
        TaskTuner::make(task_, detect_machine(), quick_options(), {}, std::move(samples));
    if (!tuner) throw std::runtime_error(tuner.error().message);
    return std::move(*tuner);
  };
  EXPECT_EQ(tuner_with(100).model_name(), "analytic");
  TaskTuner warm = tuner_with(160);
  EXPECT_EQ(warm.model_name(), "xgboost");
  EXPECT_EQ(warm.borrowed(), 160U);
  EXPECT_EQ(warm.samples().size(), 0U);
  // Samples of the task are added, and the state is rebuilt exactly.
  FakeTrials trials, again;
  TaskTuner second = tuner_with(160);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(warm.try_round(trials, 1000));
    ASSERT_TRUE(second.try_round(again, 1000));
  }
  EXPECT_EQ(warm.samples().size(), 24U + 32 + 48);
  EXPECT_EQ(trials.measured, again.measured);
}

TEST(WarmStart, BorrowedSamplesWeighLessAsTheTaskHasMore) {
  EXPECT_EQ(borrowed_count(2000, 0), 2000U);
  EXPECT_EQ(borrowed_count(2000, 256), 1000U);
  EXPECT_EQ(borrowed_count(2000, 512), 0U);
  EXPECT_EQ(borrowed_count(2000, 5000), 0U);
  EXPECT_EQ(borrowed_count(0, 0), 0U);
}

}  // namespace
}  // namespace tilewright::tune
