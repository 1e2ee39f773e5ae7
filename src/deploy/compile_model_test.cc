#include "deploy/compile_model.h"
#include "deploy/plan_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/c/back_end.h"
#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "deploy/table.h"
#include "lower/pipeline.h"
#include "runtime/host/buffer.h"
#include "runtime/host/loaders.h"
#include "runtime/host/model_library.h"
#include "task/parse.h"

namespace tilewright::deploy {
namespace {

using graph::Constant;
using ::testing::HasSubstr;

TEST(CompileModel, ResultsEqualThoseOfItsKernels) {
  const ModelPlan plan = small_model();
  for (const int threads : {1, 2}) {
    const Program program = must_compile(plan, {}, threads);
    Result<Runner> runner = Runner::load(program);
    ASSERT_TRUE(runner.has_value()) << runner.error().message;
    for (const uint64_t seed : {5, 6}) {
      const Constant x = random_constant({1, 14, 14, 16}, seed);
      const auto results = runner->run({&x, 1});
      ASSERT_TRUE(results.has_value()) << results.error().message;
      ASSERT_EQ(results->size(), 1U);
      EXPECT_EQ(results->front().type(), f32({196, 10}));
      expect_near(floats(results->front()), small_model_result(plan, x));
    }
  }
}

TEST(CompileModel, DescribesItself) {
  const Program program = must_compile(small_model(), {.name = "a-model.1"});
  EXPECT_EQ(program.name, "a_model_1");
  ASSERT_EQ(program.inputs.size(), 1U);
  EXPECT_EQ(program.inputs[0].name, "x");
  EXPECT_EQ(program.outputs[0].name, "y");
  EXPECT_EQ(program.steps.size(), 3U);
  EXPECT_EQ(program.kernels.size(), 3U);
  EXPECT_EQ(must_compile(small_model(), {.name = "50"}).name, "model_50");
}

TEST(CompileModel, StopIsCheckedBeforeEachKernel) {
  const ModelPlan plan = small_model();
  const Target target = host_target(1);
  const auto choices = choose_schedules(plan, target, nullptr);
  ASSERT_TRUE(choices.has_value()) << choices.error().message;
  const StopSource source;
  size_t built = 0;
  const auto stopped = compile_model(plan, *choices, target,
                                     {.jobs = 1,
                                      .progress =
                                          [&](size_t done, size_t /*all*/) {
                                            built = done;
                                            source.request();
                                          },
                                      .stop = source.token()});
  ASSERT_FALSE(stopped.has_value());
  EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
  EXPECT_EQ(built, 1U);
}

// Twice the same kernel with other weights: one piece of code, each step its own constants. The
// same weights in one layout are there once.
TEST(CompileModel, EqualKernelsAreMerged) {
  PlanMaker maker;
  maker.input("x", f32({8, 8}));
  maker.constant("a", random_constant({8, 8}, 1));
  maker.constant("b", random_constant({8, 8}, 2));
  const std::string text = "matmul:m=8,n=8,k=8,constant=B";
  maker.kernel(text, {"x", "a", "y1"});
  maker.kernel(text, {"y1", "b", "y2"});
  maker.kernel(text, {"y2", "a", "y3"});
  const ModelPlan plan = maker.finish({"y3"});
  const Program program = must_compile(plan);
  EXPECT_EQ(program.kernels.size(), 1U);
  ASSERT_EQ(program.steps.size(), 3U);
  EXPECT_EQ(program.steps[0].arguments[1].offset, program.steps[2].arguments[1].offset);
  EXPECT_NE(program.steps[0].arguments[1].offset, program.steps[1].arguments[1].offset);
  EXPECT_EQ(program.constants.size(), 2 * 8 * 8 * 4);

  const Constant x = random_constant({8, 8}, 3);
  std::vector<float> values = floats(x);
  for (const graph::ValueId id :
       {plan.memory.constants[0], plan.memory.constants[1], plan.memory.constants[0]}) {
    const std::vector<float> weights = floats(plan.graph.value(id).constant);
    std::vector<float> next(64);
    for (size_t k = 0; k < 512; ++k) {
      next[k / 8 / 8 * 8 + k % 8] +=
          values[k / 64 * 8 + k / 8 % 8] * weights[k / 8 % 8 * 8 + k % 8];
    }
    values = next;
  }
  const auto results = Runner::load(program)->run({&x, 1});
  ASSERT_TRUE(results.has_value());
  expect_near(floats(results->front()), values);
}

// A tap that meets the zeros around an image is left out only where weights are finite.
TEST(CompileModel, InfiniteConstantsDisableFiniteMath) {
  const std::string text = "conv2d:n=1,h=4,w=4,ci=1,co=1,kernel=3,pad=1,constant=W";
  const auto result_of = [&](float corner) {
    std::vector<std::byte> bytes(9 * sizeof(float));
    std::memcpy(bytes.data(), &corner, sizeof(corner));  // meets zeros in the first row
    PlanMaker maker;
    maker.input("x", f32({1, 4, 4, 1}));
    maker.constant("w", Constant::of_bytes(f32({3, 3, 1, 1}), bytes));
    maker.kernel(text, {"x", "w", "y"});
    const Program program = must_compile(maker.finish({"y"}));
    const Constant x = random_constant({1, 4, 4, 1}, 1);
    return floats(Runner::load(program)->run({&x, 1})->front());
  };
  EXPECT_EQ(result_of(1.0F)[0], 0.0F);
  EXPECT_TRUE(std::isnan(result_of(std::numeric_limits<float>::infinity())[0]));
  EXPECT_TRUE(std::isnan(result_of(std::numeric_limits<float>::quiet_NaN())[0]));
}

// Every form stores whether runs keep denormals, including C source without artifacts.
TEST(CompileModel, EveryFormStoresItsDenormalMode) {
  for (const bool denormals : {false, true}) {
    PlanMaker maker({.denormals = denormals});
    maker.input("x", f32({8}));
    maker.kernel("elementwise:shape=8,chain=relu", {"x", "y"});
    const ModelPlan plan = maker.finish({"y"});
    for (const CompileOptions& options : {CompileOptions{}, CompileOptions{.c_source = true},
                                          CompileOptions{.c_source = true, .artifacts = false}}) {
      const Program program = must_compile(plan, options);
      EXPECT_EQ(keeps_denormals(program), denormals);
      ASSERT_EQ(program.kernels.size(), 1U);
      EXPECT_EQ(program.kernels[0].artifact.denormals, options.artifacts && denormals);
    }
  }
}

// The C source is lowered by the passes of the back end that prints it, also if another one makes
// the artifacts.
TEST(CompileModel, CSourceUsesPassesOfItsBackEnd) {
  std::vector<lower::Pass> few(lower::cpu_passes().begin(), lower::cpu_passes().end());
  std::erase_if(few, [](const lower::Pass& pass) { return pass.name == std::string("form_fma"); });
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  std::vector<codegen::BackEnd> rows(all.begin(), all.end());
  std::ranges::find(rows, codegen::c_back_end().name, &codegen::BackEnd::name)->passes = few;

  const ModelPlan plan = small_model();
  const auto compiled = [&](bool artifacts, std::span<const codegen::BackEnd> back_ends) {
    return must_compile(plan, {.c_source = true, .artifacts = artifacts, .back_ends = back_ends});
  };
  const Program both = compiled(true, rows), usual = compiled(true, all);
  EXPECT_NE(both.c.source, usual.c.source);
  EXPECT_EQ(both.c.source, compiled(false, rows).c.source);
  ASSERT_EQ(both.kernels.size(), usual.kernels.size());
  for (size_t k = 0; k < both.kernels.size(); ++k) {
    EXPECT_EQ(both.kernels[k].artifact.bytes, usual.kernels[k].artifact.bytes) << k;
  }
}

TEST(CompileModel, CSourceIsWrittenByItsBackEndAlone) {
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  std::vector<codegen::BackEnd> rows = {codegen::c_back_end()};
  rows[0].name = "other";
  rows.insert(rows.end(), all.begin(), all.end());
  const ModelPlan plan = small_model();
  const auto choices = choose_schedules(plan, host_target(1), nullptr);
  const auto compiled =
      compile_model(plan, *choices, host_target(1), {.c_source = true, .back_ends = rows});
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(compiled.error().message, HasSubstr("by the back end c alone; here other prints"));
}

TEST(CompileModel, ReportsProgressAndFailures) {
  const ModelPlan plan = small_model();
  const Target target = host_target(1);
  auto choices = choose_schedules(plan, target, nullptr);
  ASSERT_TRUE(choices.has_value());
  std::vector<size_t> counts;
  ASSERT_TRUE(compile_model(plan, *choices, target,
                            {.progress =
                                 [&](size_t done, size_t all) {
                                   EXPECT_EQ(all, 3U);
                                   counts.push_back(done);
                                 }})
                  .has_value());
  EXPECT_EQ(counts, (std::vector<size_t>{1, 2, 3}));

  (*choices)[1].trace = *schedule::trace_from_text("split Nowhere i [4]");
  const auto failed = compile_model(plan, *choices, target);
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("kernel 'elementwise"));
}

TEST(PlanWorkload, SingleKernelIsAModel) {
  const auto workload = parse_workload("matmul:m=8,n=6,k=7,constant=B");
  const Constant b = random_constant({7, 6}, 1);
  const ModelPlan plan = plan_workload(*workload, {&b, 1});
  const Program program = must_compile(plan);
  ASSERT_EQ(program.inputs.size(), 1U);
  EXPECT_EQ(program.inputs[0].name, "A");
  EXPECT_EQ(program.outputs[0].name, "C");
  EXPECT_EQ(program.outputs[0].type, f32({8, 6}));
  const Constant a = random_constant({8, 7}, 2);
  const std::vector<float> x = floats(a), w = floats(b);
  std::vector<float> expected(48);
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 6; ++j) {
      for (size_t k = 0; k < 7; ++k) expected[i * 6 + j] += x[i * 7 + k] * w[k * 6 + j];
    }
  }
  expect_near(floats(Runner::load(program)->run({&a, 1})->front()), expected);
}

TEST(Runner, RejectsWrongInputs) {
  const Program program = must_compile(small_model());
  Result<Runner> runner = Runner::load(program);
  ASSERT_TRUE(runner.has_value());
  const auto none = runner->run({});
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("1 inputs, 0 were given"));
  const Constant wrong = random_constant({1, 14, 14, 8}, 1);
  const auto other = runner->run({&wrong, 1});
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("input 'x' is f32[1,14,14,16]"));
}

// The code of another loader, which is not a function of this process.
class HiddenCode : public runtime::LoadedCode {
 public:
  explicit HiddenCode(std::unique_ptr<runtime::LoadedCode> code) : code_(std::move(code)) {}
  int32_t call(const TilewrightCall& call) const override { return code_->call(call); }

 private:
  std::unique_ptr<runtime::LoadedCode> code_;
};

TEST(Runner, CallsKernelsThroughTheirLoader) {
  runtime::Loader loader = *runtime::find_loader(runtime::kElfArtifact);
  loader.load =
      [](const runtime::Artifact& artifact) -> Result<std::unique_ptr<runtime::LoadedCode>> {
    return std::make_unique<HiddenCode>(
        TRY(runtime::find_loader(runtime::kElfArtifact)->load(artifact)));
  };
  const ModelPlan plan = small_model();
  const Program program = must_compile(plan);
  Result<Runner> runner = Runner::load(program, {&loader, 1});
  ASSERT_TRUE(runner.has_value()) << runner.error().message;
  const Constant x = random_constant({1, 14, 14, 16}, 5);
  const std::vector<float> expected = small_model_result(plan, x);
  const auto results = runner->run({&x, 1});
  ASSERT_TRUE(results.has_value()) << results.error().message;
  expect_near(floats(results->front()), expected);

  // Its interface is that of a compiled library, also for timing.
  const TilewrightModelApi& api = runner->api();
  EXPECT_EQ(api.table->kernels[0].function, nullptr);
  const auto instance = runtime::make_instance(api, {});
  ASSERT_TRUE(instance.has_value()) << instance.error().message;
  const runtime::AlignedBuffer in(api.inputs[0].bytes), out(api.outputs[0].bytes);
  std::memcpy(in.data(), x.bytes().data(), x.bytes().size());
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  std::vector<int64_t> step_ns(static_cast<size_t>(api.step_count), -1);
  EXPECT_EQ(api.run_timed(instance->get(), inputs, outputs, step_ns.data()), 0);
  for (const int64_t ns : step_ns) EXPECT_GE(ns, 0);
  expect_near({out.as<float>(), out.as<float>() + expected.size()}, expected);
  EXPECT_EQ(api.memory(instance->get()), program.arena_bytes);
  EXPECT_EQ(api.run_dlpack(instance->get(), nullptr, nullptr), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_THAT(api.error(instance->get()), HasSubstr("not a function of this process"));
}

TEST(ExecuteOn, ComputesConstants) {
  const graph::Execute execute = execute_on(host_target(2));
  PlanMaker maker;  // for its Dag
  maker.input("a", f32({40, 30}));
  maker.input("b", f32({30, 20}));
  maker.kernel("matmul:m=40,n=20,k=30", {"a", "b", "c"});
  const ModelPlan plan = maker.finish({"c"});
  const std::vector<Constant> inputs = {random_constant({40, 30}, 1), random_constant({30, 20}, 2)};
  for (int round = 0; round < 2; ++round) {  // the second time from what was built
    const auto results = execute(*plan.partition.groups[0].workload.dag, inputs);
    ASSERT_TRUE(results.has_value()) << results.error().message;
    ASSERT_EQ(results->size(), 1U);
    EXPECT_EQ(results->front().type(), f32({40, 20}));
    const std::vector<float> a = floats(inputs[0]);
    const std::vector<float> b = floats(inputs[1]);
    std::vector<float> expected(800);
    for (size_t i = 0; i < 40; ++i) {
      for (size_t j = 0; j < 20; ++j) {
        for (size_t k = 0; k < 30; ++k) expected[i * 20 + j] += a[i * 30 + k] * b[k * 20 + j];
      }
    }
    expect_near(floats(results->front()), expected);
  }
}

}  // namespace
}  // namespace tilewright::deploy
