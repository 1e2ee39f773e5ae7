// plan_model: each step after the passes can be left out by its name, and the model stays right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "graph/graph_testing.h"
#include "heuristic/default_trace.h"
#include "task/parse.h"

namespace tilewright::deploy {
namespace {

using ::testing::HasSubstr;

// Convolutions with bias and relu, and a concat of two of them.
graph::Graph model() {
  graph::TestGraph g;
  const graph::ValueId x = g.input("x", {1, 8, 8, 16});
  const graph::ValueId y = g.residual_block(g.residual_block(x));
  const graph::ValueId joined =
      g.add("concat", {g.conv_relu(y, 16, 1), g.conv_relu(y, 32, 3)}, {{"axis", int64_t{3}}});
  return g.finish({g.conv_relu(joined, 8, 3)});
}

ModelPlan planned(std::vector<std::string> off) {
  PlanOptions options;
  options.passes.off = std::move(off);
  auto plan = plan_model(model(), host_target(2), options);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return *std::move(plan);
}

size_t max_nodes(const ModelPlan& plan) {
  size_t largest = 0;
  for (const graph::Group& group : plan.partition.groups)
    largest = std::max(largest, group.nodes.size());
  return largest;
}

int64_t concats(const ModelPlan& plan) {
  return std::ranges::count_if(plan.partition.groups, [](const graph::Group& group) {
    return group.title.contains("concat");
  });
}

int64_t packed(const ModelPlan& plan) {
  int64_t count = 0;
  for (const graph::Group& group : plan.partition.groups) {
    count += std::ranges::count(group.workload.operands, Role::Constant, &Operand::role);
  }
  return count;
}

TEST(PlanModel, PassesAreDisabledByName) {
  const ModelPlan all = planned({});
  EXPECT_GT(max_nodes(all), 1U);
  EXPECT_EQ(concats(all), 0);
  EXPECT_GT(packed(all), 0);
  EXPECT_LT(all.memory.arena_bytes, all.memory.sum_bytes);

  EXPECT_EQ(max_nodes(planned({"fuse"})), 1U);
  EXPECT_EQ(concats(planned({"concat_in_place"})), 1);
  EXPECT_EQ(packed(planned({"pack_weights"})), 0);
  const ModelPlan apart = planned({"reuse_memory"});
  EXPECT_GE(apart.memory.arena_bytes, apart.memory.sum_bytes);
  EXPECT_EQ(apart.memory.live_bytes, all.memory.live_bytes);
  // Disabling one does not affect the others, and combines with disabled passes.
  EXPECT_GT(packed(planned({"fuse", "simplify"})), 0);
  EXPECT_GT(max_nodes(planned({"concat_in_place", "pack_weights", "reuse_memory"})), 1U);
}

TEST(PlanModel, DisabledPassesKeepTheResult) {
  const graph::Constant x = random_constant({1, 8, 8, 16}, 1);
  const auto result_of = [&](std::vector<std::string> off) {
    const Program program = must_compile(planned(std::move(off)));
    const auto results = Runner::load(program)->run({&x, 1});
    EXPECT_TRUE(results.has_value());
    return floats(results->front());
  };
  const std::vector<float> expected = result_of({});
  for (const PlanStep& step : plan_steps()) {
    SCOPED_TRACE(step.name);
    expect_near(result_of({std::string(step.name)}), expected);
  }
}

// Odd sizes, several images, bias, a residual add and relu in the kernels.
TEST(PlanModel, WinogradKeepsTheResult) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 13, 15, 96}, {1, 27, 11, 96}}) {
    graph::TestGraph g;
    const graph::Graph model = g.finish({g.residual_block(g.input("x", shape))});
    const graph::Constant x = random_constant(shape, 3);
    const auto result_of = [&](bool winograd) {
      PlanOptions options;
      options.passes.permissions.winograd = winograd;
      const auto plan = plan_model(model, host_target(2), options);
      EXPECT_TRUE(plan.has_value()) << plan.error().message;
      EXPECT_EQ(plan->partition.groups.size(), 2U);
      for (const graph::Group& group : plan->partition.groups) {
        EXPECT_EQ(group.workload.permissions.winograd, winograd) << group.title;
        const auto trace = heuristic::default_trace(group.workload, host_target(2));
        EXPECT_TRUE(trace.has_value());
        const bool at_tile = to_text(*trace).contains("compute_at n0_I ");
        EXPECT_EQ(at_tile, winograd) << group.title;
      }
      const Program program = must_compile(*plan);
      const auto results = Runner::load(program)->run({&x, 1});
      EXPECT_TRUE(results.has_value());
      return floats(results->front());
    };
    const std::vector<float> expected = result_of(false), actual = result_of(true);
    ASSERT_EQ(actual.size(), expected.size());
    float largest = 0, error = 0;
    for (size_t k = 0; k < actual.size(); ++k) {
      largest = std::max(largest, std::abs(expected[k]));
      error = std::max(error, std::abs(actual[k] - expected[k]));
    }
    EXPECT_GT(error, 0);  // another algorithm
    EXPECT_LT(error, 1e-5F * largest);
  }
}

// The constants of a model for a device are folded on this machine.
TEST(PlanModel, LargeConstantsOfForeignTargetsAreFoldedOnTheHost) {
  const auto folded_for = [](const Target& target) {
    graph::TestGraph g;  // equal weights each time
    const graph::ValueId w = g.weights({300, 400});
    const graph::ValueId moved = g.add("transpose", {w}, {{"perm", graph::TestGraph::Shape{1, 0}}});
    const graph::ValueId product =
        g.add("contract", {w, moved}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}});
    const auto plan = plan_model(g.finish({g.add("mul", {g.input("x", {300}), product})}), target);
    EXPECT_TRUE(plan.has_value()) << plan.error().message;
    std::vector<graph::Constant> constants;
    for (const graph::ValueId id : plan->memory.constants) {
      constants.push_back(plan->graph.value(id).constant);
    }
    return constants;
  };
  const Target device = *parse_target("cuda:sm_90");
  ASSERT_FALSE(check_executable(device, {}).has_value());
  const auto expected = folded_for(host_target(1)), folded = folded_for(device);
  ASSERT_EQ(expected.size(), 1U);
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(folded[0].type(), (graph::TensorType{.element = ir::Scalar::F32, .shape = {300, 300}}));
  EXPECT_TRUE(std::ranges::equal(folded[0].bytes(), expected[0].bytes()));
}

// In the keys of all kernels, and by value also where constants are folded.
TEST(PlanModel, DenormalsAreKeptByAllKernels) {
  for (const bool denormals : {false, true}) {
    PlanOptions options;
    options.passes.permissions.denormals = denormals;
    const auto plan = plan_model(model(), host_target(2), options);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    for (const graph::Group& group : plan->partition.groups) {
      EXPECT_EQ(group.workload.permissions.denormals, denormals) << group.title;
    }
    const Workload half = parse_workload("elementwise:shape=64,chain=scale(0.5)").value();
    std::vector<float> values(64, std::numeric_limits<float>::min());
    const graph::Constant x = graph::Constant::of_bytes(
        f32({64}), {reinterpret_cast<std::byte*>(values.data()),
                    reinterpret_cast<std::byte*>(values.data() + values.size())});
    const auto folded =
        execute_on(host_target(1), {}, options.passes.permissions)(*half.dag, {&x, 1});
    ASSERT_TRUE(folded.has_value()) << folded.error().message;
    uint32_t bits = 0;
    std::memcpy(&bits, folded->front().bytes().data(), sizeof(bits));
    EXPECT_EQ(bits, denormals ? 0x00400000U : 0U);
  }
}

TEST(PlanModel, UnknownNamesAreRejected) {
  PlanOptions options;
  options.passes.off = {"fuse", "luck"};
  const auto plan = plan_model(model(), host_target(2), options);
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("'luck'"));
  for (const char* name : {"simplify", "dead_code", "fuse", "reuse_memory"}) {
    EXPECT_THAT(plan.error().message, HasSubstr(name));
  }
}

}  // namespace
}  // namespace tilewright::deploy
