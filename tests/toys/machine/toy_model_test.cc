// Whole models on the made-up machine, through the functions of the application: its kernels are
// not functions of this process.
#include <gtest/gtest.h>

#include <limits>

#include "app/bench.h"
#include "app/compile.h"
#include "app/npy.h"
#include "app/run_model.h"
#include "base/must_testing.h"
#include "base/temporary_folder.h"
#include "codegen/back_end.h"
#include "codegen/probe_function.h"
#include "tests/toys/machine/toy_machine.h"

namespace tilewright::toys {
namespace {

const app::TargetChoice kToy{.target = "cuda:sm_75", .threads = 0};
const app::TargetChoice kCpu{.target = "", .threads = 1};

// The tables with the rows of the machine.
struct ToyTables {
  deploy::BackEndTables view() const { return {.back_ends = back_ends, .loaders = loaders}; }

  std::vector<codegen::BackEnd> back_ends = back_ends_with_toy();
  std::vector<runtime::Loader> loaders = loaders_with_toy();
};

// The first output of a model with random inputs, except for `inputs`.
app::RunOutput run(const app::ModelChoice& model, const app::TargetChoice& target,
                   const std::vector<std::string>& inputs = {}) {
  const ToyTables tables;
  return must(app::run_model({.model = model,
                              .target = target,
                              .records = app::kNoRecords,
                              .inputs = inputs,
                              .random_seed = 3,
                              .tables = tables.view()},
                             {}))
      .outputs.at(0);
}

void write_floats(const std::filesystem::path& file, std::vector<int64_t> shape,
                  const std::vector<float>& values) {
  const Status written =
      app::write_npy(file, {.element = ir::Scalar::F32, .shape = std::move(shape)},
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  ASSERT_TRUE(written.has_value()) << written.error().message;
}

TEST(ToyModel, ResultsEqualThoseOfTheCpu) {
  const app::ModelChoice model{.what = "matmul:m=6,n=8,k=5,constant=none"};
  const app::RunOutput toy = run(model, kToy), cpu = run(model, kCpu);
  EXPECT_EQ(toy.name, "C");
  EXPECT_EQ(toy.type, cpu.type);
  EXPECT_EQ(toy.digest.numbers, 48);
  EXPECT_NE(cpu.digest.sum, 0);
  EXPECT_NEAR(toy.digest.low, cpu.digest.low, 1e-5);
  EXPECT_NEAR(toy.digest.high, cpu.digest.high, 1e-5);
  EXPECT_NEAR(toy.digest.sum, cpu.digest.sum, 1e-4);
}

// Its passes contain none that assumes finite constants.
TEST(ToyModel, ItsConstantsMayBeNan) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  std::vector<float> values(40, 1);
  values[0] = std::numeric_limits<float>::quiet_NaN();
  write_floats(folder / "b.npy", {5, 8}, values);
  const app::ModelChoice model{.what = "matmul:m=6,n=8,k=5,constant=B",
                               .constants = {"B=" + std::string(folder / "b.npy")}};
  EXPECT_EQ(run(model, kToy).digest.nans, 6);
}

TEST(ToyModel, KeepsDenormalsIfAllowed) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  const float denormal = std::numeric_limits<float>::min() / 4;
  write_floats(folder / "x.npy", {8}, std::vector<float>(8, denormal));
  app::ModelChoice model{.what = "elementwise:shape=8,chain=scale(0.5)"};
  const std::vector<std::string> inputs = {folder / "x.npy"};
  EXPECT_EQ(run(model, kToy, inputs).digest.high, 0);
  model.allow = {"denormals"};
  EXPECT_EQ(run(model, kToy, inputs).digest.high, static_cast<double>(denormal) / 2);
}

TEST(ToyModel, ArtifactsStoreTheDenormalMode) {
  const ToyTables tables;
  const codegen::BackEnd& row = tables.back_ends.back();
  ir::Function function = codegen::probe_function();
  for (const bool denormals : {false, true}) {
    function.denormals = denormals;
    EXPECT_EQ(must(codegen::compile(row, function, *parse_target(kToy.target))).denormals,
              denormals);
  }
}

TEST(ToyModel, IsTimed) {
  const ToyTables tables;
  app::BenchListener silent;
  const app::BenchOutcome outcome = must(app::bench({.what = {"matmul:m=6,n=8,k=5,constant=none"},
                                                     .target = kToy,
                                                     .records = app::kNoRecords,
                                                     .seconds = 0.05,
                                                     .tables = tables.view()},
                                                    silent, {}));
  ASSERT_EQ(outcome.models.size(), 1U);
  const app::BenchedModel& model = outcome.models[0];
  EXPECT_GT(model.timing.runs_ns.front(), 0);
  ASSERT_EQ(model.tasks.size(), 1U);
  EXPECT_GT(model.tasks[0].ns, 0);
  EXPECT_EQ(model.untuned, 1U);
}

// Its code is not linked into a library. The error precedes the compilation of the first kernel.
TEST(ToyModel, IsNotCompiledIntoALibrary) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  ToyTables tables;
  static int compiled;
  compiled = 0;
  tables.back_ends.back().compile =
      [](std::span<const ir::Function>, const Target&,
         const codegen::CompileOptions&) -> Result<std::vector<runtime::Artifact>> {
    ++compiled;
    return fail(ErrorKind::Build, "called");
  };
  app::CompileListener silent;
  for (const char* name : {"net.so", "net.o"}) {
    const auto outcome = app::compile({.model = {.what = "matmul:m=6,n=8,k=5,constant=none"},
                                       .target = kToy,
                                       .records = app::kNoRecords,
                                       .output = folder / name,
                                       .tables = tables.view()},
                                      silent, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().kind, ErrorKind::Unsupported);
    EXPECT_EQ(outcome.error().message,
              "the back end toy makes artifacts of kind 'toy'; a library is linked from those of "
              "kind 'elf'");
  }
  EXPECT_EQ(compiled, 0);
}

}  // namespace
}  // namespace tilewright::toys
