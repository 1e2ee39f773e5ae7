#include "app/run_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "app/npy.h"
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

// y = x + x, which wraps.
TEST(RunModel, ArraysOfUnsignedIntegers) {
  struct Case {
    int data_type;
    ir::Scalar element;
    int64_t sum;
  };
  const Case cases[] = {{::onnx::TensorProto::UINT16, ir::Scalar::U16, 14464},
                        {::onnx::TensorProto::UINT32, ir::Scalar::U32, 80000}};
  const SmallModel folder;
  for (const Case& c : cases) {
    onnx::ModelWriter model;
    model.input("x", {8}, c.data_type);
    model.node("Add", {"x", "x"}, {"y"});
    model.output("y");
    ASSERT_TRUE(write_file_atomically(folder / "sum.onnx", model.bytes()).has_value());
    const std::vector<int64_t> numbers(8, 40000);
    const graph::Constant x = graph::Constant::of_integers({8}, numbers, c.element);
    const std::string bytes(reinterpret_cast<const char*>(x.bytes().data()), x.bytes().size());
    ASSERT_TRUE(write_npy(folder / "x.npy", x.type(), bytes).has_value());
    const auto ran = run_model({.model = {.what = folder / "sum.onnx"},
                                .records = kNoRecords,
                                .inputs = {"x=" + (folder / "x.npy")},
                                .output = folder / "out"},
                               {});
    ASSERT_TRUE(ran.has_value()) << ran.error().message;
    const auto y = read_npy(ran->outputs[0].file, c.element);
    ASSERT_TRUE(y.has_value()) << y.error().message;
    EXPECT_EQ(y->type(), x.type());
    EXPECT_EQ(y->integers(), std::vector<int64_t>(8, c.sum));
  }
}

}  // namespace
}  // namespace tilewright::app
