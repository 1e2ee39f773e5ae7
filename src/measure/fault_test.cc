// Fault injection: bad candidates of every kind, really executed behind the real pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <thread>

#include "base/rng.h"
#include "base/sanitizer.h"
#include "measure/bad_kernels_testing.h"
#include "measure/faults_testing.h"
#include "measure/measurer.h"
#include "task/parse.h"

namespace tilewright::measure {
namespace {

using record::VerdictKind;
using ::testing::ContainsRegex;
using testing::FaultRow;
using testing::kFaults;

// With a sanitizer, address space is not limited, and signals are caught. With that of threads, a
// timer's signal waits for the next library call, which an endless kernel never makes.
constexpr bool kTimersWait = kThreadSanitizer;

schedule::Trace trace_of(const std::string& text) {
  Result<schedule::Trace> trace = schedule::trace_from_text(text);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  return trace ? *trace : schedule::Trace{};
}

schedule::Trace bad_trace(size_t fault, int64_t salt) {
  return trace_of(fmt::format("split C i [{}]\nsplit C k [{}]\n", salt + 2, fault + 1));
}
schedule::Trace good_trace(int64_t number) {
  return trace_of(
      fmt::format("split C i [{}]\nsplit C j [{}]\n", number / 30 % 30 + 2, number % 30 + 2));
}

Task task_of_tests(int threads = 1) {
  return {*parse_workload(BAD_KERNEL_WORKLOAD), host_target(threads)};
}

MeasureOptions options_of_tests() {
  MeasureOptions options;
  options.workers = TILEWRIGHT_BAD_WORKERS;
  options.build_timeout_s = kSanitized ? 10 : 2;
  options.build_memory = int64_t{2} << 30;
  options.run_memory = int64_t{1} << 30;
  options.timeout_floor_ms = kSanitized ? 3000 : 1000;
  return options;
}

std::vector<Measurement> measure_all(Measurer& measurer,
                                     const std::vector<schedule::Trace>& traces) {
  std::vector<Measurement> by_candidate(traces.size());
  std::vector<int> seen(traces.size());
  const Status status = measurer.measure(traces, [&](std::span<const Measurement> group) -> Status {
    for (const Measurement& measurement : group) {
      ++seen[measurement.candidate];
      by_candidate[measurement.candidate] = measurement;
    }
    return {};
  });
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  EXPECT_THAT(seen, ::testing::Each(1));
  return by_candidate;
}

void expect_verdict(const FaultRow& row, const Measurement& measurement) {
  SCOPED_TRACE(fmt::format("fault {}", static_cast<int>(row.fault)));
  const bool by_timer =
      row.verdict == VerdictKind::RunTimeout || row.verdict == VerdictKind::Censored;
  const bool unheard = kTimersWait && by_timer;
  if (unheard || (kSanitized && row.kernel.empty())) {
    // The timer may also be heard in time.
    EXPECT_TRUE(record::is_failure(measurement.verdict.kind) ||
                measurement.verdict.kind == row.verdict)
        << text_of(measurement.verdict.kind);
    return;
  }
  EXPECT_EQ(text_of(measurement.verdict.kind), text_of(row.verdict)) << measurement.verdict.text;
  EXPECT_THAT(measurement.verdict.text, ContainsRegex(std::string(row.text)));
}

bool applies(const FaultRow& row) { return !(kSanitized && row.needs_memory_limit); }

TEST(Faults, EachFaultCostsOneTrialAndIsDescribed) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces;
  std::vector<const FaultRow*> rows;
  for (size_t k = 0; k < kFaults.size(); ++k) {
    if (!applies(kFaults[k])) continue;
    traces.push_back(bad_trace(k, 0));
    rows.push_back(&kFaults[k]);
    traces.push_back(good_trace(static_cast<int64_t>(k)));
    rows.push_back(nullptr);
  }
  const std::vector<Measurement> measured = measure_all(*measurer, traces);
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] != nullptr) {
      expect_verdict(*rows[k], measured[k]);
    } else {
      EXPECT_FALSE(record::is_failure(measured[k].verdict.kind)) << measured[k].verdict.text;
    }
  }
}

size_t fault_of_kernel(std::string_view kernel) {
  const auto* row = std::ranges::find(kFaults, kernel, &FaultRow::kernel);
  EXPECT_NE(row, kFaults.end());
  return static_cast<size_t>(row - kFaults.begin());
}

// A hopeless first call costs no worker, and leaves nothing to the next candidate.
TEST(Faults, AStoppedKernelKeepsItsWorker) {
  if (kTimersWait) GTEST_SKIP() << "the thread sanitizer holds signals back";
  for (const int threads : {1, 2}) {
    Result<Measurer> measurer = Measurer::start(task_of_tests(threads), options_of_tests());
    ASSERT_TRUE(measurer) << measurer.error().message;
    const std::vector<schedule::Trace> traces = {
        bad_trace(fault_of_kernel("bad_parallel_sleep"), 0),
        bad_trace(fault_of_kernel("bad_nothing"), 0), good_trace(1)};
    const double limit_ns = options_of_tests().censor_multiple * measurer->incumbent_ns();
    const std::vector<int> pids = measurer->worker_pids();
    const std::vector<Measurement> measured = measure_all(*measurer, traces);
    EXPECT_EQ(measurer->worker_pids(), pids);
    EXPECT_EQ(measured[0].verdict.kind, VerdictKind::Censored) << measured[0].verdict.text;
    EXPECT_EQ(measured[0].verdict.text, "stopped in its first call");
    EXPECT_GE(measured[0].verdict.latency_ns, limit_ns);
    EXPECT_EQ(measured[1].verdict.kind, VerdictKind::WrongResult);
    EXPECT_FALSE(record::is_failure(measured[2].verdict.kind)) << measured[2].verdict.text;
  }
}

TEST(Faults, ThousandCandidatesWithTenPercentFaults) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(2), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces;
  std::vector<const FaultRow*> rows;
  Rng rng(5);
  int64_t good = 0;
  for (int64_t k = 0; k < 1000; ++k) {
    const size_t fault = rng.below(kFaults.size());
    if (k % 10 == 3 && applies(kFaults[fault])) {
      traces.push_back(bad_trace(fault, k / 10 % 60));
      rows.push_back(&kFaults[fault]);
    } else {
      traces.push_back(good_trace(good++));
      rows.push_back(nullptr);
    }
  }
  const std::vector<Measurement> measured = measure_all(*measurer, traces);
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] != nullptr) {
      expect_verdict(*rows[k], measured[k]);
      continue;
    }
    const record::Verdict& verdict = measured[k].verdict;
    ASSERT_FALSE(record::is_failure(verdict.kind)) << k << ": " << verdict.text;
    EXPECT_GT(verdict.latency_ns, 0);
  }
}

TEST(Faults, IllegalCandidatesNeedNoWorker) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  const auto measured = measure_all(*measurer, {trace_of("split C z [2]"), good_trace(1)});
  EXPECT_EQ(measured[0].verdict.kind, VerdictKind::Illegal);
  EXPECT_THAT(measured[0].verdict.text, ContainsRegex("z"));
  EXPECT_EQ(measured[0].program, Hash128{});
  EXPECT_FALSE(record::is_failure(measured[1].verdict.kind));
}

// Workers killed from outside are replaced, and no candidate is blamed.
TEST(Faults, WorkersKilledFromOutside) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces;
  for (int64_t k = 0; k < 200; ++k) traces.push_back(good_trace(k));
  Rng rng(11);
  int groups = 0;
  const Status status =
      measurer->measure(traces, [&](std::span<const Measurement> group) -> Status {
        for (const Measurement& measurement : group) {
          EXPECT_FALSE(record::is_failure(measurement.verdict.kind)) << measurement.verdict.text;
        }
        const std::vector<int> pids = measurer->worker_pids();
        if (++groups % 2 == 0) kill(pids[rng.below(pids.size())], SIGKILL);
        return {};
      });
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  EXPECT_EQ(measurer->shares().timed + measurer->shares().censored, 200);
  EXPECT_GT(measurer->shares().builders_started + measurer->shares().runners_started, 5);
}

TEST(Faults, WorkersAreRecycled) {
  MeasureOptions options = options_of_tests();
  options.recycle_after = 10;
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options);
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces;
  for (int64_t k = 0; k < 40; ++k) traces.push_back(good_trace(k));
  measure_all(*measurer, traces);
  EXPECT_EQ(measurer->shares().trials, 40);
  EXPECT_GE(measurer->shares().runners_started, 4);
  EXPECT_GE(measurer->shares().builders_started, 4);
}

TEST(Faults, WorkersThatGrowAreReplaced) {
  MeasureOptions options = options_of_tests();
  options.recycle_growth = -1;  // any memory is growth
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options);
  ASSERT_TRUE(measurer) << measurer.error().message;
  const std::vector<schedule::Trace> traces = {good_trace(1), good_trace(2), good_trace(3)};
  measure_all(*measurer, traces);
  EXPECT_GE(measurer->shares().runners_started, 3);
  EXPECT_GE(measurer->shares().builders_started, 3);
}

TEST(Faults, StopEndsMeasuring) {
  MeasureOptions options = options_of_tests();
  size_t reported = 0;
  options.stop = [&] { return reported > 0; };
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options);
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces;
  for (int64_t k = 0; k < 500; ++k) traces.push_back(good_trace(k));
  const Status status =
      measurer->measure(traces, [&](std::span<const Measurement> group) -> Status {
        reported += group.size();
        return {};
      });
  EXPECT_TRUE(status);
  EXPECT_GT(reported, 0U);
  EXPECT_LT(reported, 500U);
}

TEST(Faults, MissingWorkersAreAnError) {
  MeasureOptions options = options_of_tests();
  options.workers = "/nonexistent";
  const Result<Measurer> measurer = Measurer::start(task_of_tests(), options);
  ASSERT_FALSE(measurer);
  EXPECT_THAT(measurer.error().message, ContainsRegex("tilewright-build-worker"));
}

// A worker that never starts successfully is started a limited number of times.
TEST(Faults, WorkersThatDieAtOnceAreAnError) {
  MeasureOptions options = options_of_tests();
  options.workers = TILEWRIGHT_DEAD_WORKERS;
  const Result<Measurer> measurer = Measurer::start(task_of_tests(), options);
  ASSERT_FALSE(measurer);
  EXPECT_THAT(measurer.error().message, ContainsRegex("does not start"));
}

TEST(Faults, FinalistsAlternate) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  const std::vector<schedule::Trace> traces = {good_trace(1), measurer->default_trace(),
                                               bad_trace(0, 0), good_trace(2)};
  const Result<std::vector<Measurement>> measured = measurer->compare(traces, 3, 1);
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_EQ(measured->size(), 4U);
  for (const size_t k : {0, 1, 3}) {
    EXPECT_EQ((*measured)[k].verdict.kind, VerdictKind::Timed) << (*measured)[k].verdict.text;
    EXPECT_GE((*measured)[k].verdict.samples_ns.size(), 3U);
  }
  EXPECT_EQ((*measured)[2].verdict.kind, VerdictKind::BuildTimeout);
}

TEST(Faults, CrashingFinalistDoesNotAffectOthers) {
  Result<Measurer> measurer = Measurer::start(task_of_tests(), options_of_tests());
  ASSERT_TRUE(measurer) << measurer.error().message;
  std::vector<schedule::Trace> traces = {good_trace(1)};
  std::vector<const FaultRow*> rows = {nullptr};
  for (size_t k = 0; k < kFaults.size(); ++k) {
    if (kFaults[k].kernel.empty() || !applies(kFaults[k])) continue;
    if (kFaults[k].verdict == VerdictKind::Censored) continue;  // finalists are not
    traces.push_back(bad_trace(k, 0));
    rows.push_back(&kFaults[k]);
  }
  traces.push_back(good_trace(2));
  rows.push_back(nullptr);
  const Result<std::vector<Measurement>> measured = measurer->compare(traces, 2, 1);
  ASSERT_TRUE(measured) << measured.error().message;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] != nullptr) {
      expect_verdict(*rows[k], (*measured)[k]);
    } else {
      EXPECT_EQ((*measured)[k].verdict.kind, VerdictKind::Timed) << (*measured)[k].verdict.text;
    }
  }
}

}  // namespace
}  // namespace tilewright::measure
