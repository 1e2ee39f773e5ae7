#include "app/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace tilewright::app {
namespace {

TEST(RunProgram, SaysHowItEndedAndWhatItSaid) {
  const Result<EndedProgram> said = run_program({"sh", "-c", "echo one; echo two; exit 3"}, {});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->out, "one\ntwo\n");
  EXPECT_EQ(WEXITSTATUS(said->status), 3);
}

TEST(RunProgram, IsKilledWhenItsTimeIsOver) {
  const Result<EndedProgram> ended =
      run_program({"sh", "-c", "echo begun; exec sleep 1000"}, {}, 0.3);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(WIFSIGNALED(ended->status));
  EXPECT_EQ(WTERMSIG(ended->status), SIGKILL);
}

TEST(RunProgram, IsKilledWhenAStopIsRequested) {
  const StopSource source;
  source.request();
  const Result<EndedProgram> ended = run_program({"sleep", "1000"}, source.token());
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(WTERMSIG(ended->status), SIGKILL);
}

TEST(RunProgram, WhatIsNotThereIsAnError) {
  const Result<EndedProgram> none = run_program({"/no/such/program"}, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("cannot start /no/such/program"));
}

}  // namespace
}  // namespace tilewright::app
