#include "app/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/npy.h"
#include "app/run_model.h"
#include "app/small_model_testing.h"
#include "base/rng.h"

namespace tilewright::app {
namespace {

constexpr int64_t kChannels = 64, kSize = 15;

// A 3x3 convolution of an image of 15x15, which cuts off tiles of 4x4.
class ConvModel {
 public:
  ConvModel() : weights_(numbers(kChannels * kChannels * 9)) {
    onnx::ModelWriter model;
    model.input("x", {1, kChannels, kSize, kSize});
    model.floats("w", {kChannels, kChannels, 3, 3}, weights_);
    const std::vector<int64_t> pads(4, 1);
    onnx::set_attribute(model.node("Conv", {"x", "w"}, {"y"}), "pads", pads);
    model.output("y");
    const Status written = write_file_atomically(file(), model.bytes());
    CHECK(written.has_value(), "{}", written.error().message);
  }

  std::string file() const { return folder_ / "conv.onnx"; }
  std::string library() const { return folder_ / "conv.so"; }
  std::string operator/(std::string_view name) const { return (folder_ / name).string(); }

  CompileOutcome compiled(std::vector<std::string> allow) const {
    CompileListener silent;
    const auto outcome = compile({.model = {.what = file(), .allow = std::move(allow)},
                                  .target = {.threads = 1},
                                  .records = kNoRecords,
                                  .output = library()},
                                 silent, {});
    CHECK(outcome.has_value(), "{}", outcome.error().message);
    return *outcome;
  }

  // Numbers between -1 and 1.
  std::vector<float> numbers(int64_t count) {
    std::vector<float> all(static_cast<size_t>(count));
    for (float& one : all) one = static_cast<float>(2 * rng_.uniform() - 1);
    return all;
  }

  std::vector<double> exact(const std::vector<float>& x) const {
    std::vector<double> y(x.size());
    for (int64_t k = 0; k < kChannels * kSize * kSize; ++k) {
      const int64_t channel = k / (kSize * kSize), row = k / kSize % kSize, column = k % kSize;
      for (int64_t c = 0; c < kChannels; ++c) {
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t r = row + tap / 3 - 1, s = column + tap % 3 - 1;
          if (r < 0 || r >= kSize || s < 0 || s >= kSize) continue;
          y[static_cast<size_t>(k)] +=
              static_cast<double>(x[static_cast<size_t>((c * kSize + r) * kSize + s)]) *
              static_cast<double>(
                  weights_[static_cast<size_t>((channel * kChannels + c) * 9 + tap)]);
        }
      }
    }
    return y;
  }

  // The largest error of the library's result.
  double error_on(const std::vector<float>& x) const {
    const graph::TensorType type{.shape = {1, kChannels, kSize, kSize}};
    const std::string bytes(reinterpret_cast<const char*>(x.data()),
                            x.size() * sizeof x[0]);  // NOLINT
    CHECK(write_npy(*this / "x.npy", type, bytes).has_value(), "x.npy");
    const auto ran = run_model(
        {.model = {.what = library()}, .inputs = {"x=" + *this / "x.npy"}, .output = *this / "out"},
        {});
    CHECK(ran.has_value(), "{}", ran.error().message);
    const graph::Constant y = read_npy(*this / "out/y.npy", ir::Scalar::F32).value();
    const std::vector<double> expected = exact(x);
    double error = 0;
    for (size_t k = 0; k < expected.size(); ++k) {
      error = std::max(error, std::abs(y.number(static_cast<int64_t>(k)) - expected[k]));
    }
    return error;
  }

 private:
  Rng rng_{11};
  std::vector<float> weights_;
  TemporaryFolder folder_ = make_scratch_folder("tilewright-compile-").value();
};

TEST(Compile, BoundsTheErrorsOfWinogradsAlgorithm) {
  ConvModel model;
  EXPECT_TRUE(model.compiled({}).winograd.empty());
  EXPECT_EQ(model.compiled({}).worst_winograd(), nullptr);
  const double direct = model.error_on(model.numbers(kChannels * kSize * kSize));

  const CompileOutcome outcome = model.compiled({"winograd"});
  ASSERT_EQ(outcome.winograd.size(), 1U);
  const WinogradStep& step = outcome.winograd[0];
  EXPECT_TRUE(step.title.contains("conv2d 3x3 64->64 by winograd")) << step.title;
  ASSERT_EQ(outcome.untuned.size(), outcome.kernels);
  EXPECT_EQ(std::ranges::count(outcome.untuned, step.key, &UntunedTask::key), 1);
  EXPECT_EQ(outcome.worst_winograd(), &step);
  EXPECT_GT(step.bound, step.direct);
  EXPECT_EQ(step.against_direct(), step.bound / step.direct);
  EXPECT_LE(direct, step.direct);

  std::vector<float> x = model.numbers(kChannels * kSize * kSize);
  const double error = model.error_on(x);
  EXPECT_GT(error, direct);  // it is another algorithm
  EXPECT_LE(error, step.bound);
  for (float& one : x) one = one < 0 ? -1 : 1;
  EXPECT_LE(model.error_on(x), step.bound);
  for (size_t k = 0; k < x.size(); ++k) x[k] *= 1e6F * (1 - static_cast<float>(k % 7) * 0x1p-24F);
  EXPECT_LE(model.error_on(x), step.bound * 1e6);
}

TEST(Compile, ANameIsASymbol) {
  CompileListener silent;
  for (const std::string name : {"1bad", "a-b", "a b", "\xc3\xa9"}) {
    const auto refused = compile(
        {.model = {.what = "matmul:m=8,n=8,k=8"}, .output = "m.so", .name = name}, silent, {});
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_TRUE(
        refused.error().message.starts_with(fmt::format("name '{}': symbols consist", name)));
  }
}

TEST(Compile, EqualBoundsAreOnceTheOther) {
  EXPECT_EQ(WinogradStep{}.against_direct(), 1);  // weights of zeros
  EXPECT_EQ((WinogradStep{.key = {}, .title = {}, .bound = 3, .direct = 2}.against_direct()), 1.5);
}

}  // namespace
}  // namespace tilewright::app
