// Tests operators outside the table: the rules derive their spaces, and the proposals of a short
// search are built, checked and correct. bench unseen measures their speed.
#include "tests/e2e/unseen_operators.h"

#include <gtest/gtest.h>

#include "base/must_testing.h"
#include "base/temporary_folder.h"
#include "tune/tuning.h"

namespace tilewright {
namespace {

constexpr int64_t kTrials = 24;

// Counts verdicts as they arrive, and keeps the messages of failures.
class Tally : public tune::LoopListener {
 public:
  void on_trial(size_t /*task*/, const tune::Proposal& /*proposal*/,
                const tune::Trial& trial) override {
    ++trials;
    if (!record::is_failure(trial.kind)) return;
    ++failures;
    texts += trial.text + "\n";
  }
  void on_round(size_t /*task*/, const tune::RoundReport& /*report*/) override {}

  int64_t trials = 0, failures = 0;
  std::string texts;
};

TEST(UnseenOperators, GiveCorrectResultsWhenTuned) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-unseen-"));
  record::Store store = must(record::Store::open(folder / "records.db"));
  for (const unseen::UnseenOperator& op : unseen::unseen_operators()) {
    tune::TuningOptions options;
    options.measure.workers = TILEWRIGHT_WORKERS;
    options.trials = kTrials;
    options.command = "a test";
    const Task task{.workload = op.workload, .target = host_target(1)};
    auto tuning = tune::Tuning::start({{.task = task, .weight = 1}}, store, options);
    ASSERT_TRUE(tuning.has_value()) << op.name << ": " << tuning.error().message;
    Tally tally;
    const Status status = tuning->run(&tally);
    ASSERT_TRUE(status.has_value()) << op.name << ": " << status.error().message;
    EXPECT_EQ(tally.trials, kTrials) << op.name;
    EXPECT_LT(10 * tally.failures, tally.trials) << op.name << ": " << tally.texts;
    EXPECT_NE(tuning->result(0).winner(), nullptr) << op.name;
  }
}

}  // namespace
}  // namespace tilewright
