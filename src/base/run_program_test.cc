#include "base/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/temporary_folder.h"

namespace tilewright {
namespace {

TEST(RunProgram, ReportsStatusAndOutput) {
  const Result<EndedProgram> said = run_program({"sh", "-c", "echo one; echo two; exit 3"});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->out, "one\ntwo\n");
  EXPECT_EQ(WEXITSTATUS(said->status), 3);
}

TEST(RunProgram, StderrIsMergedOnRequest) {
  const std::vector<std::string> words = {"sh", "-c", "echo one; echo two >&2; echo three"};
  EXPECT_EQ(run_program(words)->out, "one\nthree\n");
  EXPECT_EQ(run_program(words, {.joins_errors = true})->out, "one\ntwo\nthree\n");
}

TEST(RunProgram, IsKilledAtItsTimeout) {
  const Result<EndedProgram> ended =
      run_program({"sh", "-c", "echo begun; exec sleep 1000"}, {.limit_s = 0.3});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(WIFSIGNALED(ended->status));
  EXPECT_EQ(WTERMSIG(ended->status), SIGKILL);
}

TEST(RunProgram, IsKilledWhenAStopIsRequested) {
  const StopSource source;
  source.request();
  const Result<EndedProgram> ended = run_program({"sleep", "1000"}, {.stop = source.token()});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(WTERMSIG(ended->status), SIGKILL);
}

// Its output ends long before it does.
TEST(RunProgram, IsKilledAlsoAfterItHasClosedItsOutput) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-run-").value();
  const std::string closed = folder / "closed";  // written once its output is closed
  const std::vector<std::string> words = {
      "sh", "-c", "echo said; exec >&- 2>&-; : > \"$0\"; exec sleep 1000", closed};
  const Result<EndedProgram> late = run_program(words, {.limit_s = 3});
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->out, "said\n");
  EXPECT_EQ(WTERMSIG(late->status), SIGKILL);
  std::filesystem::remove(closed);
  const StopSource source;
  std::thread stopper([&] {
    while (!std::filesystem::exists(closed)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    source.request();
  });
  const Result<EndedProgram> stopped = run_program(words, {.stop = source.token()});
  stopper.join();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->out, "said\n");
  EXPECT_EQ(WTERMSIG(stopped->status), SIGKILL);
}

// Signals without SA_RESTART interrupt system calls; the status is that of the program all the
// same.
TEST(RunProgram, SignalsDoNotLoseTheStatus) {
  struct sigaction action{}, previous{};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, &previous);
  const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 2000},
                        .it_value = {.tv_sec = 0, .tv_usec = 2000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const Result<EndedProgram> ended =
      run_program({"sh", "-c", "echo said; exec >&-; sleep 0.3; exit 3"});
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &previous, nullptr);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out, "said\n");
  EXPECT_EQ(WEXITSTATUS(ended->status), 3);
}

TEST(RunProgram, MissingProgramIsAnError) {
  const Result<EndedProgram> none = run_program({"/no/such/program"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("cannot start /no/such/program"));
}

}  // namespace
}  // namespace tilewright
