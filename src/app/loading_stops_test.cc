// A stop takes effect while a model file is loaded: imported, passed, its constants folded.
#include <gtest/gtest.h>

#include <vector>

#include "app/bench.h"
#include "app/compile.h"
#include "app/graph_view.h"
#include "app/model_tasks.h"
#include "app/run_model.h"
#include "app/small_model_testing.h"
#include "app/tune.h"

namespace tilewright::app {
namespace {

const StopSource* requested_by_compiler = nullptr;
int compilations = 0;

// The first back end of this machine, which requests a stop at each kernel.
std::vector<codegen::BackEnd> stopping_back_ends() {
  static codegen::BackEnd real;
  real = *codegen::back_end_for(host_target(1)).value();
  codegen::BackEnd stopping = real;
  stopping.compile = [](std::span<const ir::Function> functions, const Target& target,
                        const codegen::CompileOptions& options) {
    ++compilations;
    requested_by_compiler->request();
    return real.compile(functions, target, options);
  };
  return {stopping};
}

// Constant products, each of another shape and large enough to be folded by a kernel.
std::string model_of_constants(const SmallModel& folder) {
  onnx::ModelWriter model;
  model.input("x", {1});
  for (int64_t k = 0; k < 3; ++k) {
    const int64_t rows = 128 + k;
    const std::string name = std::to_string(k);
    model.floats("a" + name, {rows, 128}, std::vector<float>(static_cast<size_t>(rows * 128), 1));
    model.floats("b" + name, {128, 128}, std::vector<float>(128 * 128, 1));
    model.node("MatMul", {"a" + name, "b" + name}, {"p" + name});
    model.node("Add", {"p" + name, "x"}, {"y" + name});
    model.output("y" + name);
  }
  std::string file = folder / "constants.onnx";
  const Status written = write_file_atomically(file, model.bytes());
  CHECK(written.has_value(), "{}", written.error().message);
  return file;
}

TEST(LoadingStops, BetweenFoldedNodes) {
  const SmallModel folder;
  const std::vector<codegen::BackEnd> rows = stopping_back_ends();
  const StopSource stop;
  requested_by_compiler = &stop;
  compilations = 0;
  const auto outcome = run_model({.model = {.what = model_of_constants(folder)},
                                  .records = kNoRecords,
                                  .random_seed = 1,
                                  .tables = {.back_ends = rows}},
                                 stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(compilations, 1);
}

TEST(LoadingStops, BeforeAnythingIsDone) {
  const SmallModel folder;
  const std::vector<codegen::BackEnd> rows = stopping_back_ends();
  const StopSource stop;
  stop.request();
  requested_by_compiler = &stop;
  compilations = 0;
  const deploy::BackEndTables tables{.back_ends = rows};
  const ModelChoice model{.what = model_of_constants(folder)};

  TuneListener tuning;
  const auto tuned = tune(
      {.what = {model.what}, .records = folder.records(), .workers = kWorkers, .tables = tables},
      tuning, stop.token());
  ASSERT_TRUE(tuned.has_value()) << tuned.error().message;
  EXPECT_TRUE(tuned->stopped);
  EXPECT_TRUE(tuned->rows.empty());
  EXPECT_FALSE(std::filesystem::exists(folder.records()));

  CompileListener compiling;
  const std::string library = folder / "out.so";
  const auto compiled =
      compile({.model = model, .records = kNoRecords, .output = library, .tables = tables},
              compiling, stop.token());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
  EXPECT_TRUE(compiled->stopped);
  EXPECT_FALSE(std::filesystem::exists(library));

  const ModelOptions options{.model = model, .records = kNoRecords, .tables = tables};
  const auto tasks = model_tasks(options, stop.token());
  ASSERT_FALSE(tasks.has_value());
  EXPECT_TRUE(tasks.error().message.ends_with("stopped")) << tasks.error().message;
  EXPECT_FALSE(view_model(options, stop.token()).has_value());
  EXPECT_EQ(compilations, 0);
}

}  // namespace
}  // namespace tilewright::app
