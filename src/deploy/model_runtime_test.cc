// The runtime in C through the API of a Runner: its checks, and the independence of instances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include "base/sanitizer.h"
#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "runtime/abi/model_table.h"
#include "target/host_features.h"

namespace tilewright::deploy {
namespace {

using graph::Constant;
using ::testing::HasSubstr;

class ModelRuntime : public testing::Test {
 protected:
  void SetUp() override {
    program_ = must_compile(plan_);
    Result<Runner> loaded = Runner::load(program_);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    runner_.emplace(std::move(*loaded));
    api_ = &runner_->api();
    model_ = runner_->model();
    expected_ = small_model_result(plan_, x_);
  }

  ModelPlan plan_ = small_model();
  Program program_;
  std::optional<Runner> runner_;
  const TilewrightModelApi* api_ = nullptr;
  TilewrightModel* model_ = nullptr;
  Constant x_ = random_constant({1, 14, 14, 16}, 5);
  std::vector<float> expected_;
};

TEST_F(ModelRuntime, DescribesTheModel) {
  EXPECT_EQ(api_->version, TILEWRIGHT_MODEL_VERSION);
  EXPECT_STREQ(api_->name, "model");
  EXPECT_EQ(api_->threads, 2);
  ASSERT_EQ(api_->input_count, 1);
  ASSERT_EQ(api_->output_count, 1);
  EXPECT_STREQ(api_->inputs[0].name, "x");
  EXPECT_EQ(api_->inputs[0].rank, 4);
  EXPECT_EQ(api_->inputs[0].shape[1], 14);
  EXPECT_EQ(api_->inputs[0].bytes, 14 * 14 * 16 * 4);
  EXPECT_EQ(api_->inputs[0].type.code, 2);
  EXPECT_EQ(api_->inputs[0].type.bits, 32);
  EXPECT_STREQ(api_->outputs[0].name, "y");
  ASSERT_EQ(api_->step_count, 3);
  EXPECT_THAT(api_->step_titles[0], HasSubstr("conv2d"));
  EXPECT_GE(api_->memory(model_), program_.arena_bytes);
  EXPECT_EQ(api_->memory(nullptr), 0);
}

// Any addresses of the caller, and outputs that overlap inputs.
TEST_F(ModelRuntime, TakesAnyPointers) {
  for (const size_t shift : {0, 1, 3, 16}) {
    std::vector<float> in(x_.bytes().size() / 4 + 32);
    std::vector<float> out(expected_.size() + 32, -1.0F);
    std::memcpy(in.data() + shift, x_.bytes().data(), x_.bytes().size());
    const void* inputs[] = {in.data() + shift};
    void* outputs[] = {out.data() + shift};
    ASSERT_EQ(api_->run(model_, inputs, outputs), 0) << api_->error(model_);
    expect_near({out.begin() + static_cast<int64_t>(shift),
                 out.begin() + static_cast<int64_t>(shift + expected_.size())},
                expected_);
    EXPECT_EQ(out[shift + expected_.size()], -1.0F);

    void* onto_itself[] = {in.data() + shift};
    ASSERT_EQ(api_->run(model_, inputs, onto_itself), 0) << api_->error(model_);
    expect_near({in.begin() + static_cast<int64_t>(shift),
                 in.begin() + static_cast<int64_t>(shift + expected_.size())},
                expected_);
  }
}

TEST_F(ModelRuntime, TimesItsSteps) {
  std::vector<float> out(expected_.size());
  const void* inputs[] = {x_.bytes().data()};
  void* outputs[] = {out.data()};
  std::vector<int64_t> times(static_cast<size_t>(api_->step_count), -1);
  ASSERT_EQ(api_->run_timed(model_, inputs, outputs, times.data()), 0);
  expect_near(out, expected_);
  for (const int64_t time : times) EXPECT_GE(time, 0);
  EXPECT_EQ(api_->run_timed(model_, inputs, outputs, nullptr), TILEWRIGHT_MODEL_BAD_ARGUMENT);
}

TEST_F(ModelRuntime, NullPointersAreErrors) {
  std::vector<float> out(expected_.size());
  const void* inputs[] = {x_.bytes().data()};
  void* outputs[] = {out.data()};
  const void* no_input[] = {nullptr};
  void* no_output[] = {nullptr};
  EXPECT_EQ(api_->run(nullptr, inputs, outputs), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_THAT(api_->error(nullptr), HasSubstr("a null model"));
  EXPECT_EQ(api_->run(model_, nullptr, outputs), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_THAT(api_->error(model_), HasSubstr("1 inputs or 1 outputs"));
  EXPECT_EQ(api_->run(model_, no_input, outputs), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_THAT(api_->error(model_), HasSubstr("input 0 (x)"));
  EXPECT_EQ(api_->run(model_, inputs, no_output), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_THAT(api_->error(model_), HasSubstr("output 0 (y)"));
  EXPECT_EQ(api_->create(nullptr, nullptr, nullptr), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  const TilewrightModelOptions options{.threads = -1, .flags = 0, .weights_path = nullptr};
  TilewrightModel* made = model_;
  EXPECT_EQ(api_->create(api_, &options, &made), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_EQ(made, nullptr);
  EXPECT_THAT(api_->error(nullptr), HasSubstr("-1 threads"));
  api_->destroy(nullptr);
  EXPECT_EQ(api_->run(model_, inputs, outputs), 0);  // as good as before
}

TEST_F(ModelRuntime, DLPackTensorsAreChecked) {
  std::vector<float> out(expected_.size());
  std::vector<int64_t> in_shape = {1, 14, 14, 16};
  std::vector<int64_t> in_strides = {-7, 14 * 16, 16, 1};  // of one element: any will do
  std::vector<int64_t> out_shape = {196, 10};
  const TilewrightDLTensor good_x{.data = const_cast<std::byte*>(x_.bytes().data()),
                                  .device_type = 1,
                                  .device_id = 0,
                                  .ndim = 4,
                                  .dtype = {.code = 2, .bits = 32, .lanes = 1},
                                  .shape = in_shape.data(),
                                  .strides = in_strides.data(),
                                  .byte_offset = 0};
  TilewrightDLTensor good_y = good_x;
  good_y.data = out.data() - 2;
  good_y.byte_offset = 8;
  good_y.ndim = 2;
  good_y.shape = out_shape.data();
  good_y.strides = nullptr;
  const auto run = [&](const TilewrightDLTensor& x, TilewrightDLTensor y) {
    const TilewrightDLTensor* inputs[] = {&x};
    TilewrightDLTensor* outputs[] = {&y};
    return api_->run_dlpack(model_, inputs, outputs);
  };
  ASSERT_EQ(run(good_x, good_y), 0) << api_->error(model_);
  expect_near(out, expected_);

  std::vector<int64_t> other_shape = {1, 14, 16, 14};
  std::vector<int64_t> other_strides = {14 * 14 * 16, 1, 14, 14 * 14};
  struct Mistake {
    std::function<void(TilewrightDLTensor&)> make;
    const char* text;
  };
  const Mistake mistakes[] = {
      {[](TilewrightDLTensor& t) { t.data = nullptr; }, "a null pointer"},
      {[](TilewrightDLTensor& t) { t.device_type = 2; }, "not in the memory of the cpu"},
      {[](TilewrightDLTensor& t) { t.dtype.bits = 64; }, "another element type"},
      {[](TilewrightDLTensor& t) { t.dtype.code = 0; }, "another element type"},
      {[](TilewrightDLTensor& t) { t.dtype.lanes = 4; }, "another element type"},
      {[](TilewrightDLTensor& t) { t.ndim = 3; }, "another number of dimensions"},
      {[](TilewrightDLTensor& t) { t.shape = nullptr; }, "another number of dimensions"},
      {[&](TilewrightDLTensor& t) { t.shape = other_shape.data(); }, "another shape"},
      {[&](TilewrightDLTensor& t) { t.strides = other_strides.data(); }, "not row-major"},
  };
  for (const Mistake& mistake : mistakes) {
    TilewrightDLTensor bad = good_x;
    mistake.make(bad);
    EXPECT_EQ(run(bad, good_y), TILEWRIGHT_MODEL_BAD_ARGUMENT);
    EXPECT_THAT(api_->error(model_), HasSubstr(mistake.text));
    EXPECT_THAT(api_->error(model_), HasSubstr("input 0 (x)"));
  }
  EXPECT_EQ(api_->run_dlpack(model_, nullptr, nullptr), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_EQ(api_->run_dlpack(nullptr, nullptr, nullptr), TILEWRIGHT_MODEL_BAD_ARGUMENT);
}

TEST_F(ModelRuntime, InstancesInSeveralThreads) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([this, k] {
      const TilewrightModelOptions options{
          .threads = k % 3, .flags = 0, .weights_path = nullptr};  // 0: as it was made
      TilewrightModel* model = nullptr;
      ASSERT_EQ(api_->create(api_, &options, &model), 0) << api_->error(nullptr);
      const Constant x = random_constant({1, 14, 14, 16}, static_cast<uint64_t>(k));
      const std::vector<float> expected = small_model_result(plan_, x);
      std::vector<float> out(expected.size());
      const void* inputs[] = {x.bytes().data()};
      void* outputs[] = {out.data()};
      for (int round = 0; round < 20; ++round) {
        std::ranges::fill(out, 0.0F);
        ASSERT_EQ(api_->run(model, inputs, outputs), 0) << api_->error(model);
        expect_near(out, expected);
      }
      api_->destroy(model);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An inherited instance computes on the caller. One that the child creates has threads.
TEST_F(ModelRuntime, AForkedChildComputesAndCreatesInstances) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not support threads and fork";
  const auto run = [&](TilewrightModel* model) {
    std::vector<float> out(expected_.size(), -1.0F);
    const void* inputs[] = {x_.bytes().data()};
    void* outputs[] = {out.data()};
    return api_->run(model, inputs, outputs) == 0 ? out : std::vector<float>();
  };
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  const std::vector<float> before = run(model_);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);  // ends a child that hangs
    int wrong = run(model_) == before && threads() == 1 ? 0 : 1;
    TilewrightModel* created = nullptr;
    const TilewrightModelOptions options{};
    if (api_->create(api_, &options, &created) != 0 || threads() != 2) wrong += 2;
    if (created == nullptr || run(created) != before) wrong += 4;
    api_->destroy(created);
    runner_.reset();
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(run(model_), before);
}

TEST_F(ModelRuntime, RejectsOtherProcessorsAndVersions) {
  TilewrightModelTable table = *api_->table;
  TilewrightModelApi api = *api_;
  api.table = &table;
  TilewrightModel* model = nullptr;
  table.cpu_features = "sse4.2,avx1024,fma";
  EXPECT_EQ(api.create(&api, nullptr, &model), TILEWRIGHT_MODEL_WRONG_CPU);
  EXPECT_THAT(api.error(nullptr), HasSubstr("a processor with avx1024, which"));
  table.cpu_features = "";
  EXPECT_EQ(api.create(&api, nullptr, &model), 0);
  api.destroy(model);
  table.version += 1;
  EXPECT_EQ(api.create(&api, nullptr, &model), TILEWRIGHT_MODEL_FAILED);
}

// The C code and src/target read the same bits.
TEST(CpuFeatures, FollowTheTarget) {
  const FeatureSet here = host_features();
  for (int k = 0; k < kFeatureCount; ++k) {
    const auto feature = static_cast<Feature>(k);
    if (feature >= Feature::AmxTile) continue;  // the target also asks the system for permission
    const std::string name(feature_text(feature));
    EXPECT_EQ(tilewright_missing_feature(name.c_str()) == nullptr, here.has(feature)) << name;
  }
  EXPECT_EQ(tilewright_missing_feature(""), nullptr);
  EXPECT_STREQ(tilewright_missing_feature("sse4.2,no_such,avx"), "no_such,avx");
}

}  // namespace
}  // namespace tilewright::deploy
