#include "record/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/database.h"
#include "record/record_testing.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Check : public ::testing::Test {
 protected:
  Check() : task_(task_for("matmul:m=16,n=16,k=16")), store_(store_with(folder_ / "a.db", task_)) {}

  // A consistent attempt: its program is the hash of its tree.
  Attempt real(const std::string& trace) {
    const schedule::LoopTree initial = must(schedule::initial_tree(task_.workload));
    const schedule::LoopTree tree =
        must(apply_or_explain(initial, must(schedule::trace_from_text(trace))));
    Attempt attempt = timed(task_, 1);
    attempt.trace = trace;
    attempt.program = program_hash(tree);
    return attempt;
  }

  ScratchFolder folder_;
  Task task_;
  Store store_;
};

TEST_F(Check, IntactStoreHasNoFindings) {
  const Attempt attempt = real("split C i [4]\n");
  must(store_.append({&attempt, 1}));
  const CheckReport report = must(check(store_));
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.remarks, IsEmpty());
  EXPECT_EQ(report.attempts, 1);
  EXPECT_EQ(report.candidates, 1);
  EXPECT_EQ(report.programs, 1);
  EXPECT_EQ(report.tasks, 1);
}

// Whose hashes still distinguish memories that a CPU does not.
TEST_F(Check, HashesOfOlderVersionsAreAccepted) {
  const Attempt attempt = real("cache_read A [C] scope=register\ncompute_at A.read C i\n");
  must(store_.append({&attempt, 1}));
  const CheckReport report = must(check(store_));
  EXPECT_THAT(report.remarks, IsEmpty());
  EXPECT_EQ(report.programs, 1);
}

TEST_F(Check, ChangedProgramHashesAreRemarks) {
  Attempt other = real("split C i [4]\n");
  other.program = {5, 5};
  Attempt unreadable = timed(task_, 2);
  unreadable.trace = "teleport C\n";
  must(store_.append(std::vector{other, unreadable}));
  const CheckReport report = must(check(store_));
  EXPECT_TRUE(report.clean());
  EXPECT_THAT(report.remarks,
              ElementsAre(HasSubstr("its program is"), HasSubstr("there is no step 'teleport'")));
}

TEST_F(Check, DamageIsAProblem) {
  const struct {
    const char* sql;
    const char* says;
  } cases[] = {
      {"UPDATE attempts SET latency_ns = 1", "has content of another id"},
      {"UPDATE attempts SET samples = x'00ff'", "the samples of attempt"},
      {"UPDATE attempts SET verdict = 'great'", "the verdict of attempt"},
      {"UPDATE attempts SET machine = 77", "of attempts refers to a row of machines"},
      {"UPDATE shapes SET text = 'x'", "cannot be"},
      {"UPDATE machines SET key = x'00112233445566778899aabbccddeeff'",
       "has content of another id"},
  };
  for (const auto& c : cases) {
    const ScratchFolder folder;
    const Attempt attempt = real("split C i [4]\n");
    {
      Store store = store_with(folder / "a.db", task_);
      must(store.append({&attempt, 1}));
    }
    const auto database = must(Database::open(folder / "a.db", Access::Write));
    for (const char* table : {"attempts", "candidates", "machines", "shapes"}) {
      database->execute(fmt::format("DROP TRIGGER {}_no_update", table));
    }
    database->execute(c.sql);
    must(database->take_status());
    Store store = must(Store::open(folder / "a.db"));
    const CheckReport report = must(check(store));
    ASSERT_FALSE(report.clean()) << c.sql;
    EXPECT_THAT(report.problems[0], HasSubstr(c.says)) << c.sql;
  }
}

TEST_F(Check, StopEndsTheCheck) {
  const Attempt attempt = real("split C i [4]\n");
  must(store_.append({&attempt, 1}));
  const StopSource stop;
  stop.request();
  const CheckReport stopped = must(check(store_, 200, stop.token()));
  EXPECT_TRUE(stopped.stopped);
  EXPECT_THAT(stopped.problems, IsEmpty());
  EXPECT_EQ(stopped.attempts, 0);
  const CheckReport whole = must(check(store_, 200));
  EXPECT_FALSE(whole.stopped);
  EXPECT_TRUE(whole.clean());
  EXPECT_EQ(whole.attempts, 1);
}

TEST_F(Check, StopInterruptsARunningStatement) {
  const auto database = must(Database::in_memory());
  const StopSource stop;
  const std::string endless =
      "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT count(*) FROM n";
  {
    const Cancellation cancellation(*database, stop.token());
    stop.request();
    EXPECT_EQ(database->integer(endless), 0);
    EXPECT_THAT(database->take_status().error().message, HasSubstr("interrupted"));
  }
  EXPECT_EQ(database->integer("SELECT 7"), 7);  // the token is no longer queried
  must(database->take_status());
}

}  // namespace
}  // namespace tilewright::record
