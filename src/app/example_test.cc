// The example program examples/cpp/tune.cc, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "app/run_program.h"
#include "app/small_model_testing.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> words_for(const SmallModel& small, const std::string& seconds) {
  return {TILEWRIGHT_EXAMPLE, small.model_file(), small / "small.so", seconds,
          small.records(),    kWorkers.string()};
}

TEST(Example, TunesAndCompilesAModel) {
  const SmallModel small;
  const auto ended = run_program(words_for(small, "3"), {}, 120);
  ASSERT_TRUE(ended.has_value()) << ended.error().message;
  EXPECT_EQ(ended->status, 0);
  EXPECT_THAT(ended->out, HasSubstr("kernels, 0 untuned"));
  EXPECT_THAT(ended->out, ::testing::Not(HasSubstr("stopped")));
  EXPECT_TRUE(std::filesystem::exists(small / "small.so"));
}

// Ctrl-C reaches the program while it tunes: it ends long before its time, and compiles.
TEST(Example, CtrlCStopsItCleanly) {
  const SmallModel small;
  const std::string words = small / "words";
  std::vector<std::string> command = words_for(small, "600");
  const pid_t child = fork();
  if (child == 0) {
    std::array<char*, 7> arguments{};
    for (size_t k = 0; k < command.size(); ++k) arguments[k] = command[k].data();
    if (freopen(words.c_str(), "w", stdout) == nullptr) _exit(3);
    execv(arguments[0], arguments.data());
    _exit(4);
  }
  ASSERT_GT(child, 0);
  for (int k = 0; k < 600 && !std::filesystem::exists(small.records()); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(child, SIGINT);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(read_file(words).value_or(""), HasSubstr("(stopped)"));
  EXPECT_TRUE(std::filesystem::exists(small / "small.so"));
}

TEST(Example, SaysWhatIsMissing) {
  const SmallModel small;
  std::vector<std::string> words = words_for(small, "1");
  words.back() = "/nowhere";
  const auto ended = run_program(words, {}, 60);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(WEXITSTATUS(ended->status), 1);
}

}  // namespace
}  // namespace tilewright::app
