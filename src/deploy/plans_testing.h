// For tests: models built by hand, kernel by kernel, with separate memory for every value.
//
//   PlanMaker maker;
//   maker.input("x", {.element = F32, .shape = {1, 8}});
//   maker.constant("w", random_constant({8, 4}, 1));
//   maker.kernel("matmul:m=1,n=4,k=8", {"x", "w", "y"});
//   ModelPlan plan = maker.finish({"y"});
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/compile_model.h"
#include "record/record_testing.h"

namespace tilewright::deploy {

class PlanMaker {
 public:
  explicit PlanMaker(const FloatPermissions& permissions = {}) : permissions_(permissions) {}

  void input(const std::string& name, graph::TensorType type);
  void constant(const std::string& name, graph::Constant constant);
  // Operands by name, in the order of the workload; written ones are new. `constant=` in the text
  // names the constants.
  void kernel(const std::string& text, const std::vector<std::string>& arguments);
  ModelPlan finish(const std::vector<std::string>& outputs);

 private:
  FloatPermissions permissions_;
  ModelPlan plan_;
  std::map<std::string, graph::ValueId> values_;
};

// Numbers in [-1, 1].
graph::Constant random_constant(std::vector<int64_t> shape, uint64_t seed);
graph::TensorType f32(std::vector<int64_t> shape);

// Input x[1,14,14,16]: conv 3x3 to 32 channels, max(., 0), and a matmul of the 196 rows with
// w2[32,10]: output y[196,10]. Constants are packed if the schedules say so.
ModelPlan small_model();
// Its output for x, computed by plain loops.
std::vector<float> small_model_result(const ModelPlan& plan, const graph::Constant& x);

// Compiles a model with default schedules for this machine.
Program must_compile(const ModelPlan& plan, const CompileOptions& options = {}, int threads = 2);
std::vector<float> floats(const graph::Constant& constant);
void expect_near(const std::vector<float>& actual, const std::vector<float>& expected);

using TestFolder = record::testing::ScratchFolder;

}  // namespace tilewright::deploy
