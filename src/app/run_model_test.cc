#include "app/run_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "app/small_model_testing.h"

namespace tilewright::app {
namespace {

std::atomic<int> compilations = 0;

// The first back end of this machine, which counts its compilations.
std::vector<codegen::BackEnd> counting_back_ends() {
  static codegen::BackEnd real;
  real = *codegen::back_end_for(host_target(1)).value();
  codegen::BackEnd counting = real;
  counting.compile = [](std::span<const ir::Function> functions, const Target& target,
                        const codegen::CompileOptions& options) {
    ++compilations;
    return real.compile(functions, target, options);
  };
  return {counting};
}

TEST(RunModel, AStopEndsTheCompilationOfAModelFile) {
  const SmallModel small;
  const std::vector<codegen::BackEnd> rows = counting_back_ends();
  const RunOptions options{.model = {.what = small.model_file()},
                           .records = kNoRecords,
                           .random_seed = 1,
                           .tables = {.back_ends = rows}};
  const StopSource stop;
  stop.request();
  const auto stopped = run_model(options, stop.token());
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_TRUE(stopped->stopped);
  EXPECT_TRUE(stopped->outputs.empty());
  EXPECT_EQ(compilations, 0);

  const auto ran = run_model(options, {});
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_FALSE(ran->stopped);
  EXPECT_EQ(ran->outputs.size(), 1U);
  EXPECT_GT(compilations, 0);
}

}  // namespace
}  // namespace tilewright::app
