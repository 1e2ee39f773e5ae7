// `tilewright explain`: its errors, and its output for verdicts of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/temporary_folder.h"
#include "cli/explain_report.h"
#include "cli/run_testing.h"
#include "codegen/version.h"
#include "heuristic/default_trace.h"
#include "record/store.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

using record::VerdictKind;
using testing::HasSubstr;
using testing::Not;

// A temporary folder with a store and files.
class Explain : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string records() const { return (folder_ / "records.db").string(); }

  // Stores one attempt of a task; gives its id.
  std::string store(std::string_view what, std::string trace, const record::Verdict& verdict) {
    const Task task{parse_workload(what).value(), host_target(1)};
    const Machine machine = detect_machine();
    Result<record::Store> store = record::Store::open(records());
    CHECK(store.has_value(), "{}", store.error().message);
    const record::Run run{
        .id = {1, 2}, .start_us = 1'700'000'000'000'000, .command = "a test", .version = "0"};
    CHECK(store->put_task(task).has_value() && store->put_machine(machine).has_value() &&
          store->put_run(run).has_value());
    record::Attempt attempt;
    attempt.run = run.id;
    attempt.sequence = next_++;
    attempt.task = task.key();
    attempt.program = {3, static_cast<uint64_t>(next_)};
    attempt.trace = std::move(trace);
    attempt.machine = record::machine_id(machine);
    attempt.code_generator = codegen::kCodeGeneratorVersion;
    attempt.start_us = attempt.end_us = run.start_us;
    attempt.verdict = verdict;
    const Status status = store->append({&attempt, 1});
    CHECK(status.has_value(), "{}", status.error().message);
    return attempt.id().hex();
  }

  TemporaryFolder folder_ = make_scratch_folder("tilewright-explain-").value();
  int64_t next_ = 0;
};

TEST_F(Explain, UnknownSubjectsAreErrors) {
  const std::string id = store(
      "GMM0", "", {.kind = VerdictKind::Timed, .latency_ns = 1e6, .samples_ns = {1e6}, .text = {}});
  const std::string none = file("none.trace", "split C nothing [4]\n");
  const std::string two = file("two.trace", "split C i [4]\n---\nsplit C j [4]\n");
  const std::string good = file("good.trace", "split C i [4]\n");
  struct Mistake {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Mistake mistakes[] = {
      {{"explain"}, "WHAT is required"},
      {{"explain", "abc", "--records", (folder_ / "no.db").string()}, "no.db"},
      {{"explain", "zz", "--records", records()}, "'zz' is not an id"},
      {{"explain", id + "0", "--records", records()}, "not an id"},
      {{"explain", "x.o", "--records", (folder_ / "no.db").string()},
       "nor a compiled model, MODEL.so, nor an operator, which needs a file with its schedule "
       "(--trace FILE)"},
      {{"explain", folder_.path().string()}, "' is a folder, not an id of an attempt"},
      {{"explain", "C2D2", "--records", (folder_ / "no.db").string()}, "(--trace FILE)"},
      {{"explain", "ffffffffffff", "--records", records()}, "no attempt's id"},
      {{"explain", "C2D2", "--records", records()},
       "explain a schedule of it from a file (--trace FILE); `tilewright records ls C2D2` lists "
       "its attempts"},
      {{"explain", "GMM9", "--trace", good}, "GMM9"},
      {{"explain", "GMM0", "--trace", none}, "nothing"},
      {{"explain", "GMM0", "--trace", two}, "it has 2 traces, and one is needed"},
      {{"explain", "GMM0", "--trace", (folder_ / "no.trace").string()}, "no.trace"},
      {{"explain", "GMM0", "--trace", good, "--target", "z80"}, "z80"},
      {{"explain", "GMM0", "--trace", good, "--seconds", "-1"}, "--seconds"},
      {{"explain", "GMM0", "--trace", good, "--seconds", "nan"}, "--seconds"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = tilewright(mistake.arguments);
    EXPECT_EQ(outcome.code, 2) << mistake.message;
    EXPECT_EQ(outcome.out, "") << mistake.message;
    EXPECT_THAT(outcome.err, HasSubstr(mistake.message));
  }
}

// Like `lower --trace`: the empty schedule.
TEST_F(Explain, AcceptsAnEmptySchedule) {
  const Outcome outcome = tilewright(
      {"explain", "matmul:m=8,n=8,k=8", "--trace", file("empty.trace", ""), "--seconds", "0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("for i < 8"));
}

TEST_F(Explain, TimedCandidatesAreReported) {
  const Workload workload = parse_workload("GMM0").value();
  const schedule::Trace trace = heuristic::default_trace(workload, host_target(1)).value();
  const std::string id = store(
      "GMM0", to_text(trace),
      {.kind = VerdictKind::Timed, .latency_ns = 1e6, .samples_ns = {1e6, 2e6, 3e6}, .text = {}});
  const Outcome text =
      tilewright({"explain", id.substr(0, 10), "--records", records(), "--seconds", "0"});
  ASSERT_EQ(text.code, 0) << text.err;
  for (const char* part :
       {"timed: 1 ms", "3 samples: min 1 ms, median 2 ms, max 3 ms", "(this machine)",
        "by `a test`", "4.2 MFLOP", "registers and L1", "reaches 4.2 GFLOP/s",
        "were not measured: the time limit for it is 0 seconds", "likely limits:"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const Outcome json =
      tilewright({"explain", id, "--records", records(), "--seconds", "0", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Result<Json> object = parse_json(json.out);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ((*object)["verdict"], "timed");
  EXPECT_EQ((*object)["flop"], 4194304.0);
  EXPECT_EQ((*object)["attempt"]["id"], id);
  EXPECT_FALSE((*object)["levels"].empty());
  EXPECT_FALSE((*object)["limits"].empty());
}

TEST_F(Explain, MeasuresThePeakOfThisMachine) {
  const std::string id = store(
      "GMM0", "", {.kind = VerdictKind::Timed, .latency_ns = 1e9, .samples_ns = {1e9}, .text = {}});
  const Outcome outcome =
      tilewright({"explain", id, "--records", records(), "--seconds", "0.02", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Result<Json> object = parse_json(outcome.out);
  ASSERT_TRUE(object);
  EXPECT_GT((*object)["shares"][0]["ceiling"], 0.0);
  EXPECT_THAT((*object)["limits"][0].get<std::string>(), HasSubstr("no vectorized loop"));
}

TEST_F(Explain, FailuresAreExplained) {
  const std::string illegal = store("GMM0", "split C nothing [4]\n",
                                    {.kind = VerdictKind::Illegal,
                                     .latency_ns = 0,
                                     .samples_ns = {},
                                     .text = "C has no loop nothing"});
  const Outcome first = tilewright({"explain", illegal, "--records", records()});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("C has no loop nothing"));
  EXPECT_THAT(first.out, HasSubstr("There is no loop nest"));
  const std::string crash = store("GMM0", "",
                                  {.kind = VerdictKind::Crash,
                                   .latency_ns = 0,
                                   .samples_ns = {},
                                   .text = "wrote behind the end"});
  const Outcome second = tilewright({"explain", crash, "--records", records()});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("wrote behind the end"));
  EXPECT_THAT(second.out, HasSubstr("please report it"));
  EXPECT_THAT(second.out, HasSubstr("likely limits"));
}

// Only a candidate whose first call ended is known to be correct.
TEST_F(Explain, SaysWhetherACensoredKernelIsCorrect) {
  const std::string whole =
      store("GMM0", "split C i [4]\n",
            {.kind = VerdictKind::Censored, .latency_ns = 2e6, .samples_ns = {}, .text = {}});
  const Outcome first = tilewright({"explain", whole, "--records", records()});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("censored: correct, but slower than 2"));
  const std::string stopped = store("GMM0", "split C i [8]\n",
                                    {.kind = VerdictKind::Censored,
                                     .latency_ns = 3e6,
                                     .samples_ns = {},
                                     .text = "stopped in its first call"});
  const Outcome second = tilewright({"explain", stopped, "--records", records()});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("censored: slower than 3"));
  EXPECT_THAT(second.out, HasSubstr("stopped in its first call"));
}

TEST_F(Explain, AcceptsAScheduleWithoutARecord) {
  const std::string good = file("good.trace", "split C i [4]\n");
  const Outcome outcome = tilewright({"explain", "GMM0", "--trace", good, "--threads", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("for i.0 < 32"));
  EXPECT_THAT(outcome.out, HasSubstr("runs on one of 2 threads"));
}

// The caches, the lanes and the peak of the host are no limits of a device's code.
TEST_F(Explain, DevicesAreNotComparedWithTheCpuPeak) {
  const Outcome outcome =
      tilewright({"explain", "GMM0", "--trace", file("empty.trace", ""), "--target", "cuda:sm_90"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("registers and memory"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("L1")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("caches of")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("lanes")));
  EXPECT_THAT(outcome.out, HasSubstr("Limits on a device are not estimated."));
}

TEST(Advice, ExistsForEveryVerdictKind) {
  for (int kind = 0; kind < record::kVerdictKinds; ++kind) {
    EXPECT_FALSE(advice_on(static_cast<VerdictKind>(kind)).empty()) << kind;
  }
}

}  // namespace
}  // namespace tilewright::cli
