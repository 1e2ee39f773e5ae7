// Operators that nobody prepared for go all the way: rules make a space of them, and what a short
// search proposes is built, checked and right. How fast it is, bench unseen says.
#include "tests/e2e/unseen_operators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tune/tuning.h"

namespace tilewright {
namespace {

constexpr int64_t kTrials = 24;

// Counts verdicts as they come, and keeps what failures said.
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

// build/PRESET for build/PRESET/tests/e2e/test: the workers lie there.
std::filesystem::path program_folder() {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path().parent_path().parent_path();
}

TEST(UnseenOperators, AreTunedToRightResults) {
  const auto path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("unseen_{}.db", getpid());
  auto store = record::Store::open(path);
  ASSERT_TRUE(store.has_value());
  for (const unseen::UnseenOperator& op : unseen::unseen_operators()) {
    tune::TuningOptions options;
    options.measure.workers = program_folder();
    options.trials = kTrials;
    options.command = "a test";
    const Task task{.workload = op.workload, .target = host_target(1)};
    auto tuning = tune::Tuning::start({{.task = task, .weight = 1}}, *store, options);
    ASSERT_TRUE(tuning.has_value()) << op.name << ": " << tuning.error().message;
    Tally tally;
    const Status status = tuning->run(&tally);
    ASSERT_TRUE(status.has_value()) << op.name << ": " << status.error().message;
    EXPECT_EQ(tally.trials, kTrials) << op.name;
    EXPECT_LT(10 * tally.failures, tally.trials) << op.name << ": " << tally.texts;
    EXPECT_NE(tuning->result(0).winner(), nullptr) << op.name;
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + end);
}

}  // namespace
}  // namespace tilewright
