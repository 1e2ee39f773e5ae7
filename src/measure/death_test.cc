#include "measure/death.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tilewright::measure {
namespace {

using record::VerdictKind;

WorkerEvent event_of(int signal, std::string_view phase) {
  WorkerEvent event;
  event.died = true;
  event.signal = signal;
  event.end = "killed by a signal";
  set_phase(event.status, phase);
  return event;
}

TEST(Death, BuildWorkers) {
  EXPECT_EQ(reply_of_death(event_of(SIGSEGV, "lower: unroll"), 1).failure, VerdictKind::Build);
  EXPECT_EQ(reply_of_death(event_of(SIGSEGV, "lower: unroll"), 1).text,
            "the compiler was killed by a signal; last pass: lower: unroll");
  EXPECT_EQ(reply_of_death(event_of(SIGPROF, "llvm: codegen"), 2.5).failure,
            VerdictKind::BuildTimeout);
  EXPECT_EQ(reply_of_death(event_of(SIGPROF, "llvm: codegen"), 2.5).text,
            "the compiler took more than 2.5 s of CPU time; last pass: llvm: codegen");
  WorkerEvent late = event_of(SIGKILL, "apply");
  late.late = true;
  EXPECT_EQ(reply_of_death(late, 1).failure, VerdictKind::BuildTimeout);
  EXPECT_FALSE(was_killed_externally(late));
}

TEST(Death, RunWorkers) {
  const RunRequest request{.protocol = {}, .incumbent_ns = 1e6, .timeout_ns = 2e8, .censor_ns = 0};
  EXPECT_EQ(outcome_of_death(event_of(SIGFPE, "check"), request).verdict.kind, VerdictKind::Crash);
  WorkerEvent slow = event_of(0, "check");
  slow.status.timed_out = 1;
  EXPECT_EQ(outcome_of_death(slow, request).verdict.kind, VerdictKind::RunTimeout);
  EXPECT_EQ(outcome_of_death(slow, request).verdict.text,
            "a run took more than 200 ms; phase: check");
  set_phase(slow.status, "time");
  EXPECT_EQ(outcome_of_death(slow, request).verdict.kind, VerdictKind::RunTimeout);
  EXPECT_EQ(outcome_of_death(slow, request).verdict.text,
            "the first run was correct, but a later one took more than 200 ms; phase: time");
  WorkerEvent late = event_of(SIGKILL, "check");
  late.late = true;
  EXPECT_EQ(outcome_of_death(late, request).verdict.kind, VerdictKind::Device);
}

TEST(Death, ExternalKillIsNotTheCandidatesFault) {
  EXPECT_TRUE(was_killed_externally(event_of(SIGKILL, "check")));
  EXPECT_FALSE(was_killed_externally(event_of(SIGSEGV, "check")));
}

TEST(Death, StatusTextsAreBounded) {
  WorkerEvent event = event_of(SIGSEGV, "check");
  std::fill(std::begin(event.status.phase), std::end(event.status.phase), 'x');
  std::fill(std::begin(event.status.detail), std::end(event.status.detail), 'y');
  EXPECT_EQ(phase_text(event.status).size(), sizeof event.status.phase);
  EXPECT_EQ(detail_text(event.status).size(), sizeof event.status.detail);
  set_detail(event.status, std::string(1000, 'z'));
  EXPECT_EQ(detail_text(event.status).size(), sizeof event.status.detail - 1);
}

}  // namespace
}  // namespace tilewright::measure
