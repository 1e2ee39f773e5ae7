// The example program examples/cpp/tune.cc, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "app/records.h"
#include "app/small_model_testing.h"
#include "base/run_program.h"
#include "base/sanitizer.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

constexpr double kRunSeconds = 120 * kSanitizerSlowdown;  // time limit of a run that does not tune

std::vector<std::string> words_for(const SmallModel& small, const std::string& seconds) {
  return {TILEWRIGHT_EXAMPLE, small.model_file(), small / "small.so", seconds,
          small.records(),    kWorkers.string()};
}

// Like words_for, with standard error in a file.
std::vector<std::string> with_errors_in(const std::string& file, std::vector<std::string> words) {
  words.insert(words.begin(), {"sh", "-c", "exec \"$@\" 2> " + file, "sh"});
  return words;
}

// Trials that the bar in the file has shown.
bool has_trials(const std::string& file) {
  return read_file(file).value_or("").find(" trials, ") != std::string::npos;
}

// Starts it without waiting, with standard error in a file.
pid_t start(std::vector<std::string> words, const std::string& errors) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::array<char*, 7> arguments{};
  for (size_t k = 0; k < words.size(); ++k) arguments[k] = words[k].data();
  std::signal(SIGXFSZ, SIG_IGN);  // at its size limit, a file cannot be written
  if (freopen(errors.c_str(), "w", stderr) == nullptr) _exit(3);
  execv(arguments[0], arguments.data());
  _exit(4);
}

void wait_for_trials(const std::string& errors) {
  for (int k = 0; k < 600 * kSanitizerSlowdown && !has_trials(errors); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

TEST(Example, TunesAndCompilesAModel) {
  const SmallModel small;
  std::string out;
  // On a slow machine, some kernels are still untuned after 3 s. The next run resumes with more
  // time.
  for (int seconds = 3; seconds < 400 && !out.contains("kernels, 0 untuned"); seconds *= 2) {
    const auto ended =
        run_program(with_errors_in(small / "errors", words_for(small, std::to_string(seconds))),
                    {.limit_s = seconds + kRunSeconds});
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
    ASSERT_EQ(ended->status, 0);
    EXPECT_THAT(read_file(small / "errors").value_or(""), HasSubstr("\r[="));
    EXPECT_TRUE(read_file(small / "errors").value_or("").ends_with('\n'));  // of the bar
    EXPECT_TRUE(std::filesystem::exists(small / "small.so"));
    out = ended->out;
  }
  EXPECT_THAT(out, HasSubstr("kernels, 0 untuned"));
}

// Ctrl-C reaches the program while it tunes: it ends long before its time, and a new run resumes.
TEST(Example, CtrlCStopsItCleanly) {
  const SmallModel small;
  const std::string errors = small / "errors";
  const pid_t child = start(words_for(small, "600"), errors);
  ASSERT_GT(child, 0);
  wait_for_trials(errors);
  kill(child, SIGINT);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const std::string said = read_file(errors).value_or("");
  EXPECT_THAT(said, HasSubstr("\r["));
  EXPECT_THAT(said, HasSubstr("stopped; the store has all trials"));
  EXPECT_FALSE(std::filesystem::exists(small / "small.so"));
  const auto tasks = list_tasks(small.records());
  ASSERT_TRUE(tasks.has_value()) << tasks.error().message;
  int64_t timed = 0;
  for (const record::TaskSummary& one : *tasks) {
    timed += one.attempts[static_cast<size_t>(record::VerdictKind::Timed)];
  }
  EXPECT_GT(timed, 0);
}

// The store cannot grow: incomplete results are not compiled.
TEST(Example, AFailureAfterSomeTrialsEndsIt) {
  const SmallModel small;
  const std::string errors = small / "errors";
  const pid_t child = start(words_for(small, "600"), errors);
  ASSERT_GT(child, 0);
  wait_for_trials(errors);
  const rlim_t bytes = std::filesystem::file_size(small.records() + "-wal");
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  EXPECT_EQ(prlimit(child, RLIMIT_FSIZE, &limit, nullptr), 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(read_file(errors).value_or(""), HasSubstr("nothing of this was stored"));
  EXPECT_FALSE(std::filesystem::exists(small / "small.so"));
}

TEST(Example, ABadNumberIsRefused) {
  const SmallModel small;
  const std::pair<const char*, int> cases[] = {{"", 2},    {"sixty", 2}, {"6o", 2},
                                               {"nan", 1}, {"-1", 1},    {"inf", 1}};
  for (const auto& [seconds, code] : cases) {
    const auto ended = run_program(with_errors_in(small / "errors", words_for(small, seconds)),
                                   {.limit_s = kRunSeconds});
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
    EXPECT_EQ(WEXITSTATUS(ended->status), code) << seconds;
    EXPECT_THAT(read_file(small / "errors").value_or(""),
                HasSubstr(code == 2 ? "SECONDS is a number" : "is not 0 or from 0.1"));
  }
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

TEST(Example, WrongArgumentsGiveAUsageLine) {
  const SmallModel small;
  const auto ended =
      run_program(with_errors_in(small / "errors", {TILEWRIGHT_EXAMPLE, "model.onnx"}),
                  {.limit_s = kRunSeconds});
  ASSERT_TRUE(ended.has_value()) << ended.error().message;
  EXPECT_EQ(WEXITSTATUS(ended->status), 2);
  EXPECT_THAT(read_file(small / "errors").value_or(""), HasSubstr("usage: tune_model MODEL.onnx"));
}

TEST(Example, MissingFilesAreReported) {
  const SmallModel small;
  std::vector<std::string> words = words_for(small, "1");
  words.back() = "/nowhere";
  const auto ended = run_program(words, {.limit_s = kRunSeconds});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(WEXITSTATUS(ended->status), 1);
}

}  // namespace
}  // namespace tilewright::app
