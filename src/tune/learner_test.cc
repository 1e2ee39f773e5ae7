#include "tune/learner.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cost/loss.h"

namespace tilewright::tune {
namespace {

// Records its training samples.
class CountingModel : public cost::CostModel {
 public:
  std::vector<std::string> encodings() const override { return {"features"}; }
  bool learns() const override { return true; }
  Status train(const cost::Samples& samples) override {
    trained.push_back(samples);
    return {};
  }
  bool is_trained() const override { return !trained.empty(); }
  void predict(const feature::Inputs& inputs, const cost::Predictions& out) const override {
    for (size_t k = 0; k < inputs.front().programs(); ++k) out.mean[k] = 0;
  }

  std::vector<cost::Samples> trained;
};

// `count` samples, numbered from `first` on by their latency, trace and program.
void add(size_t count, size_t first, cost::Samples* samples) {
  if (samples->inputs.empty()) samples->inputs.resize(1);
  for (size_t k = first; k < first + count; ++k) {
    feature::Encoded& rows = samples->inputs[0];
    rows.width = 1;
    rows.values.push_back(static_cast<float>(k));
    rows.begin.push_back(rows.begin.back() + 1);
    samples->latency_ns.push_back(static_cast<double>(k + 1));
    samples->trace.push_back(std::to_string(k));
    samples->program.push_back({.high = 1, .low = k});
  }
}

// Samples of the task with this number.
cost::SampleOrigin origin(uint64_t number) {
  return {.key = {.high = 0, .low = number}, .task = nullptr, .machine = nullptr};
}

TEST(Learner, SingleTaskTrainsAfterEachSufficientRound) {
  const auto model = std::make_shared<CountingModel>();
  Learner learner(model, {.tasks = 1, .learn_from = 40, .max_samples = 100});
  const size_t task = learner.join({});
  for (size_t round = 0; round < 4; ++round) {
    add(32, 32 * round, &learner.samples(task));
    ASSERT_TRUE(learner.learn(task));
  }
  ASSERT_EQ(model->trained.size(), 3U);  // the first round is too little
  EXPECT_EQ(model->trained[0].size(), 64U);
  EXPECT_EQ(model->trained[2].size(), 100U);  // the newest
  EXPECT_EQ(model->trained[2].latency_ns.front(), 29);
  EXPECT_TRUE(learner.guides(task));
  EXPECT_EQ(learner.cost().trainings, 3);
}

// Measurements of one task train the model of another, in separate groups.
TEST(Learner, TasksOfARunShareSamples) {
  const auto model = std::make_shared<CountingModel>();
  Learner learner(model, {.tasks = 3, .learn_from = 40});
  const size_t first = learner.join({});
  add(200, 0, &learner.samples(first));
  ASSERT_TRUE(learner.learn(first));
  const size_t second = learner.join({});
  EXPECT_TRUE(learner.guides(second));  // it has no samples yet
  add(100, 200, &learner.samples(second));
  ASSERT_TRUE(learner.learn(second));
  ASSERT_EQ(model->trained.size(), 2U);
  const cost::Samples& all = model->trained[1];
  EXPECT_EQ(all.size(), 300U);
  EXPECT_EQ(all.group[199], 0U);
  EXPECT_EQ(all.group[200], 1U);
}

TEST(Learner, FewBorrowedSamplesDoNotGuide) {
  const auto model = std::make_shared<CountingModel>();
  Learner learner(model, {.tasks = 2, .learn_from = 40});
  const size_t first = learner.join({});
  add(60, 0, &learner.samples(first));
  ASSERT_TRUE(learner.learn(first));
  EXPECT_TRUE(learner.guides(first));
  EXPECT_FALSE(learner.guides(learner.join({})));
}

// Two rounds in flight: the next task has joined and has no samples yet.
TEST(Learner, ATaskWithoutSamplesDoesNotDisturbTheOthers) {
  const auto model = std::make_shared<CountingModel>();
  Learner learner(model, {.tasks = 3, .learn_from = 40});
  const size_t first = learner.join({});
  const size_t second = learner.join({});
  add(60, 0, &learner.samples(first));
  ASSERT_TRUE(learner.learn(first));
  ASSERT_TRUE(learner.learn(second));
  ASSERT_EQ(model->trained.size(), 1U);
  EXPECT_EQ(model->trained[0].size(), 60U);
}

// For any number of tasks, each sample is used in a bounded number of trainings: the work of
// learning grows with the samples, not with samples times rounds.
TEST(Learner, TrainingTimeIsBoundedByItsShare) {
  for (const size_t tasks : {2, 8, 32}) {
    const auto model = std::make_shared<CountingModel>();
    Learner learner(model, {.tasks = tasks, .retrain_share = 1.0 / 12});
    std::vector<size_t> joined;
    size_t samples = 0;
    int64_t rounds = 0;
    for (size_t round = 0; round < 6; ++round) {
      for (size_t k = 0; k < tasks; ++k) {
        if (round == 0) joined.push_back(learner.join({}));
        add(48, samples, &learner.samples(joined[k]));
        ASSERT_TRUE(learner.learn(joined[k]));
        samples += 48;
        ++rounds;
      }
    }
    const LearningCost& cost = learner.cost();
    // Trained at n, n * 13/12, ...: the sum is 13 times the last at most, and one training a round.
    EXPECT_LE(cost.samples, static_cast<int64_t>(14 * samples)) << tasks;
    EXPECT_LE(cost.trainings, rounds);
    if (tasks == 32) {
      EXPECT_LT(cost.trainings, rounds / 3);
    }
  }
}

TEST(Learner, SharedBorrowedProgramsCountOnce) {
  const auto model = std::make_shared<CountingModel>();
  cost::Samples others;
  add(160, 0, &others);
  others.group.assign(160, 1);
  others.weight.assign(160, 0.3F);
  others.origins.emplace(1, origin(1));
  Learner learner(model, {.tasks = 2});
  const size_t first = learner.join(others);
  ASSERT_TRUE(learner.learn(first));
  ASSERT_EQ(model->trained.size(), 1U);
  EXPECT_EQ(model->trained[0].size(), 160U);
  EXPECT_EQ(model->trained[0].group[0], 4U);  // behind the groups of the tasks
  const size_t second = learner.join(others);
  ASSERT_TRUE(learner.learn(second));
  EXPECT_EQ(model->trained.size(), 1U);  // nothing new
  EXPECT_EQ(learner.borrowed(second), 160U);
}

// Similar tasks borrow overlapping samples of the same other tasks. Those that the second one adds
// are labeled relative to the fastest program of the group, which the first one borrowed.
TEST(Learner, SharedBorrowedGroupsAreMerged) {
  const auto model = std::make_shared<CountingModel>();
  const auto borrowed = [](size_t first, size_t count, uint32_t group) {
    cost::Samples samples;
    add(count, first, &samples);
    samples.group.assign(count, group);
    samples.weight.assign(count, 0.3F);
    // Every tenth failed.
    for (size_t k = 0; k < count; ++k) {
      if ((first + k) % 10 == 9) samples.latency_ns[k] = 0;
    }
    return samples;
  };
  // The first borrows programs 0 to 159 of the task 7; the second 0 to 39 of the task 8, and of the
  // task 7 program 0 and 100 to 199.
  cost::Samples one = borrowed(0, 160, 1);
  one.origins.emplace(1, origin(7));
  cost::Samples two = borrowed(0, 40, 1);
  cost::append_samples(borrowed(0, 1, 2), 1, &two);
  cost::append_samples(borrowed(100, 100, 2), 100, &two);
  two.origins.emplace(1, origin(8));
  two.origins.emplace(2, origin(7));

  Learner learner(model, {.tasks = 2});
  const size_t first = learner.join(one);
  ASSERT_TRUE(learner.learn(first));
  const size_t second = learner.join(two);
  ASSERT_TRUE(learner.learn(second));
  ASSERT_EQ(model->trained.size(), 2U);
  const cost::Samples& all = model->trained[1];
  ASSERT_EQ(all.size(), 160U + 40 + 40);  // of the task 7: 160 to 199 are new
  const std::vector<cost::Label> labels = cost::labels_of(all, 1);
  std::map<Hash128, std::set<uint32_t>> groups;
  std::map<uint32_t, size_t> failures;
  for (size_t k = 0; k < all.size(); ++k) {
    groups[all.origins.at(all.group[k]).key].insert(all.group[k]);
    if (all.latency_ns[k] == 0) {
      failures[all.group[k]] += 1;
    } else {
      EXPECT_FLOAT_EQ(labels[k].y, static_cast<float>(1 / all.latency_ns[k])) << k;
    }
  }
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[origin(7).key], std::set<uint32_t>{4});
  EXPECT_EQ(groups[origin(8).key], std::set<uint32_t>{5});
  EXPECT_EQ(failures[4], 20U);
  EXPECT_EQ(failures[5], 4U);
}

// The second task borrows from the first, whose search then begins with the same trials. The first
// may join again, if its search could not be made at first.
void expect_past_trials_count_once(bool joins_twice) {
  for (const bool borrows_first : {true, false}) {
    const auto model = std::make_shared<CountingModel>();
    Learner learner(model, {.tasks = 2, .learn_from = 40});
    cost::Samples of_one;
    add(200, 0, &of_one);
    of_one.group.assign(200, 1);
    of_one.weight.assign(200, 0.3F);
    of_one.origins.emplace(1, origin(7));
    const auto task = std::make_shared<const Task>();
    const cost::SampleOrigin one{.key = origin(7).key, .task = task, .machine = nullptr};
    const cost::SampleOrigin other{.key = origin(8).key, .task = task, .machine = nullptr};
    if (joins_twice) learner.join({}, one);
    size_t borrower = 0;
    if (borrows_first) {
      borrower = learner.join(of_one, other);
      ASSERT_TRUE(learner.learn(borrower));
    }
    const size_t owner = learner.join({}, one);
    add(100, 50, &learner.samples(owner));
    ASSERT_TRUE(learner.learn(owner));
    if (!borrows_first) borrower = learner.join(of_one, other);
    add(60, 1000, &learner.samples(borrower));
    ASSERT_TRUE(learner.learn(borrower));

    const cost::Samples& all = model->trained.back();
    std::set<uint64_t> programs;
    for (const Hash128& program : all.program) EXPECT_TRUE(programs.insert(program.low).second);
    ASSERT_EQ(all.size(), 60U + 100 + 50);  // 0 to 49 were measured before, by no task of the run
    for (size_t k = 0; k < all.size(); ++k) {
      const bool is_own = all.program[k].low >= 50;
      EXPECT_EQ(all.weight[k], is_own ? 1.0F : 0.3F) << all.program[k].low;
      const bool is_borrowers = all.program[k].low >= 1000;
      EXPECT_EQ(all.group[k], is_borrowers ? borrower : owner) << all.program[k].low;
    }
    EXPECT_EQ(all.origins.size(), 2U);
  }
}

TEST(Learner, BorrowedTrialsOfATaskOfTheRunCountOnce) { expect_past_trials_count_once(false); }

TEST(Learner, LastJoinOfATaskWins) { expect_past_trials_count_once(true); }

// A blank text would be the valid trace without steps.
TEST(Learner, SamplesWithoutTracesAreKept) {
  const auto model = std::make_shared<CountingModel>();
  cost::Samples others;
  add(160, 0, &others);
  others.trace.clear();
  others.group.assign(160, 1);
  Learner learner(model, {.tasks = 1});
  ASSERT_TRUE(learner.learn(learner.join(others)));
  ASSERT_EQ(model->trained.size(), 1U);
  EXPECT_EQ(model->trained[0].size(), 160U);
  EXPECT_TRUE(model->trained[0].trace.empty());
}

TEST(ModelScope, HasATextForm) {
  EXPECT_EQ(parse_model_scope("run"), ModelScope::Run);
  EXPECT_EQ(parse_model_scope("task"), ModelScope::Task);
  EXPECT_FALSE(parse_model_scope("world"));
}

}  // namespace
}  // namespace tilewright::tune
