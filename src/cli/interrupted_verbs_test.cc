// Ctrl-C while a verb works: it ends cleanly, with exit code 130 and a line that says what is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cli/run_testing.h"
#include "onnx/model_testing.h"
#include "record/store.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs the verb, and sends SIGINT as soon as it is handled.
Outcome interrupt(const std::vector<std::string>& arguments) {
  const auto ignored = std::signal(SIGINT, SIG_IGN);
  const std::jthread sender([](const std::stop_token& ended) {
    struct sigaction now{};
    while (!ended.stop_requested()) {
      sigaction(SIGINT, nullptr, &now);
      if (now.sa_handler != SIG_IGN) {
        ::kill(::getpid(), SIGINT);
        return;
      }
      std::this_thread::yield();
    }
  });
  Outcome outcome = tilewright(arguments);
  std::signal(SIGINT, ignored);
  return outcome;
}

class InterruptedVerbs : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A model that takes seconds to load: many products to fold, each of another shape.
  std::string slow_model() const {
    onnx::ModelWriter model;
    model.input("x", {1});
    constexpr int64_t kSide = 128;
    const std::vector<float> ones(kSide * kSide, 1);
    for (int64_t k = 0; k < 100; ++k) {
      const int64_t rows = kSide + k;
      const std::string name = std::to_string(k);
      model.floats("a" + name, {rows, kSide},
                   std::vector<float>(static_cast<size_t>(rows * kSide), 1));
      model.floats("b" + name, {kSide, kSide}, ones);
      model.node("MatMul", {"a" + name, "b" + name}, {"p" + name});
      model.node("Add", {"p" + name, "x"}, {"y" + name});
      model.output("y" + name);
    }
    std::string file = path("slow.onnx");
    const Status written = write_file_atomically(file, model.bytes());
    CHECK(written.has_value(), "{}", written.error().message);
    return file;
  }

  // The id of a timed attempt.
  std::string store_attempt() const {
    const Task task{parse_workload("GMM0").value(), host_target(1)};
    const Machine machine = detect_machine();
    record::Store store = record::Store::open(path("records.db")).value();
    const record::Run run{.id = {1, 2}, .start_us = 1, .command = "a test", .version = "0"};
    record::Attempt attempt;
    attempt.run = run.id;
    attempt.task = task.key();
    attempt.machine = record::machine_id(machine);
    attempt.verdict = {
        .kind = record::VerdictKind::Timed, .latency_ns = 1e9, .samples_ns = {1e9}, .text = {}};
    EXPECT_TRUE(store.put_machine(machine) && store.put_task(task) && store.put_run(run) &&
                store.append({&attempt, 1}));
    return attempt.id().hex();
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-interrupt-").value();
};

TEST_F(InterruptedVerbs, ExplainReportsAnAttemptWithoutCeilings) {
  const Outcome outcome =
      interrupt({"explain", store_attempt(), "--records", path("records.db"), "--seconds", "1000"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.out, HasSubstr("timed: 1 s"));
  EXPECT_THAT(outcome.out, HasSubstr("were not measured: stopped"));
  EXPECT_EQ(outcome.err, "interrupted: the ceilings of this machine were not measured\n");
}

TEST_F(InterruptedVerbs, ExplainOfAModelSaysSo) {
  ASSERT_EQ(tilewright({"compile", "matmul:m=32,n=32,k=32", "--records", "none", "--threads", "1",
                        "-o", path("small.so")})
                .code,
            0);
  const Outcome outcome =
      interrupt({"explain", path("small.so"), "--records", "none", "--seconds", "1000"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(outcome.err, "interrupted: the model was not measured\n");
}

TEST_F(InterruptedVerbs, VerbsThatLoadAModelSaySo) {
  const std::string model = slow_model();
  for (const auto& [verb, says] : {std::pair("tasks", "the model was not loaded"),
                                   std::pair("graph", "the model was not loaded"),
                                   std::pair("bench", "the benchmark is not complete"),
                                   std::pair("run", "the model did not run")}) {
    const Outcome outcome = interrupt({verb, model, "--records", "none", "--threads", "1"});
    EXPECT_EQ(outcome.code, 130) << verb;
    EXPECT_THAT(outcome.out, IsEmpty()) << verb;
    EXPECT_EQ(outcome.err, std::string("interrupted: ") + says + "\n") << verb;
  }
}

}  // namespace
}  // namespace tilewright::cli
