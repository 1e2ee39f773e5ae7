#include "app/model_finals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "app/model_choice.h"
#include "app/small_model_testing.h"
#include "record/store.h"
#include "target/machine.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

const StopSource* requested_by_compiler = nullptr;
std::atomic<int> compilations = 0;

// The first back end of this machine, which requests a stop at its first kernel.
std::vector<codegen::BackEnd> stopping_back_ends(const Target& target) {
  static codegen::BackEnd real;
  real = *codegen::back_end_for(target).value();
  codegen::BackEnd stopping = real;
  stopping.compile = [](std::span<const ir::Function> functions, const Target& on,
                        const codegen::CompileOptions& options) {
    ++compilations;
    if (requested_by_compiler != nullptr) requested_by_compiler->request();
    return real.compile(functions, on, options);
  };
  return {stopping};
}

class ModelFinalsTest : public ::testing::Test {
 protected:
  Result<ModelFinals> hold(const StopSource* source, size_t* libraries) {
    compilations = 0;
    requested_by_compiler = source;
    const std::vector<codegen::BackEnd> back_ends = stopping_back_ends(target_);
    const ModelFinalsOptions options{.workers = kWorkers,
                                     .seconds = std::numeric_limits<double>::infinity(),
                                     .again = true,
                                     .command = "a test",
                                     .tables = {.back_ends = back_ends},
                                     .on_libraries = [&](size_t count) { *libraries += count; }};
    return hold_model_finals(plan_, target_, store_, options,
                             source != nullptr ? source->token() : StopToken());
  }
  // Of all tasks.
  int64_t attempts() {
    int64_t count = 0;
    const auto tasks = store_.summaries();
    EXPECT_TRUE(tasks.has_value());
    for (const record::TaskSummary& task : *tasks) {
      for (const int64_t of_kind : task.attempts) count += of_kind;
    }
    return count;
  }

  SmallModel small_;
  Target target_ = host_target(1);
  deploy::ModelPlan plan_ = plan_of_model({.what = small_.model_file()}, target_).value();
  record::Store store_ = record::Store::open(small_.records()).value();
};

TEST_F(ModelFinalsTest, WithoutAStopLibrariesAreCompared) {
  size_t libraries = 0;
  const Result<ModelFinals> finals = hold(nullptr, &libraries);
  ASSERT_TRUE(finals.has_value()) << finals.error().message;
  EXPECT_TRUE(finals->held) << finals->why_not;
  EXPECT_EQ(finals->libraries, 1U);  // default schedules only
  EXPECT_EQ(libraries, 1U);
  EXPECT_EQ(compilations, static_cast<int>(plan_.partition.kernels.size()));
}

// Between two kernels of one library: the rest of it is not built, and nothing is compared.
TEST_F(ModelFinalsTest, StopEndsTheBuildOfALibrary) {
  const StopSource source;
  size_t libraries = 0;
  const Result<ModelFinals> finals = hold(&source, &libraries);
  ASSERT_TRUE(finals.has_value()) << finals.error().message;
  EXPECT_FALSE(finals->held);
  EXPECT_THAT(finals->why_not, HasSubstr("stopped before all was compiled"));
  EXPECT_EQ(finals->libraries, 0U);
  EXPECT_EQ(libraries, 0U);
  EXPECT_GE(compilations, 1);
  EXPECT_EQ(attempts(), 0);
}

}  // namespace
}  // namespace tilewright::app
