#include "measure/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/temporary_folder.h"
#include "codegen/version.h"
#include "measure/bad_kernels_testing.h"
#include "task/parse.h"

namespace tilewright::measure {
namespace {

using record::Store;
using record::VerdictKind;

class SessionTest : public ::testing::Test {
 protected:
  Store open() const {
    Result<Store> store = Store::open(path_);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return std::move(store).value();
  }

  static Session start(Store& store, bool force = false) {
    SessionOptions options;
    options.measure.workers = TILEWRIGHT_BAD_WORKERS;
    options.measure.censor_multiple = 1000;  // the default schedule is far faster
    options.command = "a test";
    if (force) options.recall = record::Recall::None;
    Result<Session> session =
        Session::start({*parse_workload(BAD_KERNEL_WORKLOAD), host_target(1)}, store, options);
    EXPECT_TRUE(session) << (session ? "" : session.error().message);
    return std::move(session).value();
  }

  static std::vector<schedule::Trace> traces(const std::vector<std::string>& texts) {
    std::vector<schedule::Trace> traces;
    for (const std::string& text : texts) traces.push_back(*schedule::trace_from_text(text));
    return traces;
  }

  static std::vector<Answer> measure(Session& session, const std::vector<schedule::Trace>& traces) {
    std::vector<Answer> answers(traces.size());
    std::vector<int> seen(traces.size());
    const Status status = session.measure(traces, [&](const Answer& answer) {
      ++seen[answer.candidate];
      answers[answer.candidate] = answer;
    });
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    EXPECT_THAT(seen, ::testing::Each(1));
    return answers;
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-session-").value();
  const std::filesystem::path path_ = folder_ / "session.db";
};

// The proposer has applied the trace. It is not applied again: the hash of the proposal becomes
// that of the attempt, by which the attempt is found.
TEST_F(SessionTest, HashOfAProposalIsTrusted) {
  Store store = open();
  Session session = start(store);
  const Hash128 given{12, 34};
  const Proposal proposals[] = {
      {.trace = *schedule::trace_from_text("split C i [4]"), .program = given}};
  std::vector<Answer> answers;
  const auto take = [&](const Answer& answer) { answers.push_back(answer); };
  ASSERT_TRUE(session.measure(proposals, take));
  ASSERT_TRUE(session.measure(proposals, take));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].attempt.program, given);
  EXPECT_FALSE(answers[0].stored);
  EXPECT_TRUE(answers[1].stored);
  EXPECT_EQ(answers[1].attempt_id, answers[0].attempt_id);
}

// A run of a trajectory is in its table; the command is as it was given.
TEST_F(SessionTest, RunsBelongToTheirTrajectory) {
  Store store = open();
  SessionOptions options;
  options.measure.workers = TILEWRIGHT_BAD_WORKERS;
  options.command = "a test";
  options.trajectory = {7, 8};
  const Task task{*parse_workload(BAD_KERNEL_WORKLOAD), host_target(1)};
  ASSERT_TRUE(Session::start(task, store, options));
  const record::StoredTrajectory found = store.find_trajectory({7, 8}).value();
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].command, "a test");
  EXPECT_TRUE(found.completed.empty());
}

TEST_F(SessionTest, StoredProgramsAreNotMeasured) {
  Store store = open();
  const auto candidates = traces(
      {"split C i [4]", "split C j [8]", "split C z [8]", "split C i [4]", "split C k [15]"});
  Session first = start(store);
  const std::vector<Answer> fresh = measure(first, candidates);
  EXPECT_FALSE(fresh[0].stored);
  EXPECT_FALSE(fresh[2].stored);
  EXPECT_EQ(fresh[2].attempt.verdict.kind, VerdictKind::Illegal);
  EXPECT_EQ(fresh[4].attempt.verdict.kind, VerdictKind::Crash);
  // The same program twice in one call: one attempt answers both.
  EXPECT_NE(fresh[0].stored, fresh[3].stored);
  EXPECT_EQ(fresh[0].attempt_id, fresh[3].attempt_id);
  for (const Answer& answer : fresh) {
    const auto found = store.find_attempt(answer.attempt_id);
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ(**found, answer.attempt);
    EXPECT_EQ(answer.attempt.code_generator, codegen::kCodeGeneratorVersion);
    EXPECT_LE(answer.attempt.start_us, answer.attempt.end_us);
    EXPECT_GT(answer.attempt.start_us, 0);
  }

  Store again = open();
  Session second = start(again);
  const std::vector<Answer> resumed = measure(second, candidates);
  for (size_t k = 0; k < candidates.size(); ++k) {
    EXPECT_TRUE(resumed[k].stored) << k;
    EXPECT_EQ(resumed[k].attempt_id, fresh[k].attempt_id) << k;
  }
  EXPECT_EQ(second.measurer().shares().trials, 0);
  EXPECT_LE(second.measurer().incumbent_ns(), fresh[0].attempt.verdict.latency_ns);

  Session forced = start(again, true);
  const std::vector<Answer> anew = measure(forced, candidates);
  EXPECT_FALSE(anew[0].stored);
  EXPECT_NE(anew[0].attempt_id, fresh[0].attempt_id);
  EXPECT_FALSE(measure(forced, candidates)[0].stored);  // on every request
}

TEST_F(SessionTest, ProgramsStoredByOtherProcessesAreNotMeasured) {
  Store store = open();
  Store other_store = open();
  Session session = start(store);
  Session other = start(other_store);  // knows nothing yet
  const auto candidates = traces({"split C i [4]", "split C j [8]", "split C z [8]"});
  const std::vector<Answer> fresh = measure(session, candidates);
  const std::vector<Answer> answers = measure(other, candidates);
  for (size_t k = 0; k < candidates.size(); ++k) {
    EXPECT_TRUE(answers[k].stored) << k;
    EXPECT_EQ(answers[k].attempt_id, fresh[k].attempt_id) << k;
  }
  EXPECT_EQ(other.measurer().shares().trials, 0);

  // Also within a batch: once the first candidates are answered, another process measures the
  // others.
  std::vector<schedule::Trace> many;
  for (int k = 2; k < 42; ++k) {
    many.push_back(*schedule::trace_from_text(fmt::format("split C i [{}]", k)));
  }
  std::vector<int> seen(many.size());
  bool helped = false;
  const Status status = other.measure(many, [&](const Answer& answer) {
    ++seen[answer.candidate];
    if (helped || answer.stored) return;
    helped = true;
    measure(session, many);
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_THAT(seen, ::testing::Each(1));
  EXPECT_TRUE(helped);
  EXPECT_LT(other.measurer().shares().trials, 30);
}

TEST_F(SessionTest, FinalsIncludeTheDefault) {
  Store store = open();
  Session session = start(store);
  measure(session, traces({"split C i [4]", "split C j [8]", "split C i [16]", "split C k [15]"}));
  const Result<std::vector<Answer>> finals = session.finals(2, 3, 1);
  ASSERT_TRUE(finals) << finals.error().message;
  ASSERT_EQ(finals->size(), 3U);
  int defaults = 0;
  for (size_t k = 0; k < finals->size(); ++k) {
    const record::Attempt& attempt = (*finals)[k].attempt;
    EXPECT_EQ(attempt.verdict.kind, VerdictKind::Timed);
    EXPECT_TRUE(attempt.protocol.interleaved);
    if (k > 0) {
      EXPECT_GE(attempt.verdict.latency_ns, (*finals)[k - 1].attempt.verdict.latency_ns);
    }
    defaults += attempt.trace == schedule::to_text(session.measurer().default_trace()) ? 1 : 0;
    ASSERT_TRUE(store.find_attempt((*finals)[k].attempt_id)->has_value());
  }
  EXPECT_EQ(defaults, 1);
}

TEST_F(SessionTest, UnwritableStoreEndsTheSession) {
  Store store = open();
  Session session = start(store);
  std::vector<schedule::Trace> candidates;
  for (int k = 2; k < 30; ++k) {
    candidates.push_back(*schedule::trace_from_text(fmt::format("split C i [{}]", k)));
  }
  size_t reported = 0;  // of a full disk: no file may grow
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 4096;
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  const Status status = session.measure(candidates, [&](const Answer&) { ++reported; });
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Io);
  EXPECT_EQ(reported, 0U);
}

}  // namespace
}  // namespace tilewright::measure
