#include "deploy/plans_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/rng.h"
#include "base/rounding.h"
#include "graph/op_table.h"
#include "task/parse.h"

namespace tilewright::deploy {

using graph::Constant;
using graph::Home;
using graph::TensorType;
using graph::ValueId;

TensorType f32(std::vector<int64_t> shape) {
  return {.element = ir::Scalar::F32, .shape = std::move(shape)};
}

Constant random_constant(std::vector<int64_t> shape, uint64_t seed) {
  const TensorType type = f32(std::move(shape));
  Rng rng(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    const auto number = static_cast<float>(2 * rng.uniform() - 1);
    std::memcpy(&bytes[at], &number, sizeof(number));
  }
  return Constant::of_bytes(type, std::move(bytes));
}

void PlanMaker::input(const std::string& name, TensorType type) {
  values_[name] = plan_.graph.add_input(name, std::move(type));
}

void PlanMaker::constant(const std::string& name, Constant constant) {
  values_[name] = plan_.graph.add_constant(name, std::move(constant));
}

void PlanMaker::kernel(const std::string& text, const std::vector<std::string>& arguments) {
  Result<Workload> workload = parse_workload(text, permissions_);
  CHECK(workload.has_value(), "{}", workload.error().message);
  CHECK(workload->operands.size() == arguments.size(), "{} operands", workload->operands.size());
  graph::Node node{.op = "max", .attributes = {}, .inputs = {}, .outputs = {}, .origin = {}};
  std::vector<TensorType> types;
  std::vector<std::string> names;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const te::Tensor& tensor = workload->dag->tensor(workload->operands[k].tensor);
    if (workload->operands[k].role != Role::Output) {
      node.inputs.push_back(values_.at(arguments[k]));
      continue;
    }
    types.push_back(graph::tensor_type(tensor));
    names.push_back(arguments[k]);
  }
  const std::vector<ValueId> made = plan_.graph.add_typed(node, types, names);
  for (size_t k = 0; k < made.size(); ++k) values_[names[k]] = made[k];

  graph::Group group{.nodes = {static_cast<graph::NodeId>(plan_.graph.nodes().size() - 1)},
                     .workload = std::move(*workload),
                     .arguments = {},
                     .title = text};
  for (const std::string& argument : arguments) group.arguments.push_back(values_.at(argument));
  const Hash128 key = group.workload.key();
  auto& kernels = plan_.partition.kernels;
  auto found = std::ranges::find(kernels, key, &graph::Partition::Kernel::key);
  if (found == kernels.end()) {
    kernels.push_back({.key = key, .groups = {}});
    found = kernels.end() - 1;
  }
  found->groups.push_back(plan_.partition.groups.size());
  plan_.partition.groups.push_back(std::move(group));
}

ModelPlan PlanMaker::finish(const std::vector<std::string>& outputs) {
  std::vector<ValueId> ids;
  ids.reserve(outputs.size());
  for (const std::string& name : outputs) ids.push_back(values_.at(name));
  plan_.graph.set_outputs(ids);
  plan_.graph.set_output_names(outputs);
  graph::MemoryPlan& memory = plan_.memory;
  memory.places.resize(plan_.graph.value_count());
  for (ValueId id = 0; id < plan_.graph.value_count(); ++id) {
    const graph::Value& value = plan_.graph.value(id);
    const auto place_in = [id](const std::vector<ValueId>& list) {
      return std::ranges::find(list, id) - list.begin();
    };
    if (value.is_constant()) {
      memory.places[id] = {Home::Constant, static_cast<int64_t>(memory.constants.size()), 0};
      memory.constants.push_back(id);
    } else if (std::ranges::count(plan_.graph.inputs(), id) > 0) {
      memory.places[id] = {Home::Input, place_in(plan_.graph.inputs()), 0};
    } else if (std::ranges::count(ids, id) > 0) {
      memory.places[id] = {Home::Output, place_in(ids), 0};
    } else {
      memory.places[id] = {Home::Arena, 0, memory.arena_bytes};
      memory.arena_bytes = round_up(memory.arena_bytes + value.type.bytes(), 64);
    }
  }
  return std::move(plan_);
}

ModelPlan small_model() {
  PlanMaker maker;
  maker.input("x", f32({1, 14, 14, 16}));
  maker.constant("w1", random_constant({3, 3, 16, 32}, 1));
  maker.constant("w2", random_constant({32, 10}, 2));
  maker.kernel("conv2d:n=1,h=14,w=14,ci=16,co=32,kernel=3,pad=1,constant=W", {"x", "w1", "c"});
  maker.kernel("elementwise:shape=196x32,chain=relu", {"c", "r"});
  maker.kernel("matmul:m=196,n=10,k=32,constant=B", {"r", "w2", "y"});
  return maker.finish({"y"});
}

std::vector<float> small_model_result(const ModelPlan& plan, const Constant& x) {
  const std::vector<float> in = floats(x);
  std::vector<std::vector<float>> weights;
  weights.reserve(plan.memory.constants.size());
  for (const ValueId id : plan.memory.constants) {
    weights.push_back(floats(plan.graph.value(id).constant));
  }
  std::vector<float> hidden(size_t{14} * 14 * 32);
  for (int64_t y = 0; y < 14; ++y) {
    for (int64_t xx = 0; xx < 14; ++xx) {
      for (int64_t co = 0; co < 32; ++co) {
        double sum = 0;
        for (int64_t k = 0; k < 9; ++k) {
          const int64_t row = y + k / 3 - 1;
          const int64_t column = xx + k % 3 - 1;
          if (row < 0 || row >= 14 || column < 0 || column >= 14) continue;
          for (int64_t ci = 0; ci < 16; ++ci) {
            sum += in[static_cast<size_t>((row * 14 + column) * 16 + ci)] *
                   weights[0][static_cast<size_t>((k * 16 + ci) * 32 + co)];
          }
        }
        hidden[static_cast<size_t>((y * 14 + xx) * 32 + co)] =
            std::max(0.0F, static_cast<float>(sum));
      }
    }
  }
  std::vector<float> out(size_t{196} * 10);
  for (size_t m = 0; m < 196; ++m) {
    for (size_t n = 0; n < 10; ++n) {
      double sum = 0;
      for (size_t k = 0; k < 32; ++k) sum += hidden[m * 32 + k] * weights[1][k * 10 + n];
      out[m * 10 + n] = static_cast<float>(sum);
    }
  }
  return out;
}

Program must_compile(const ModelPlan& plan, const CompileOptions& options, int threads) {
  const Target target = host_target(threads);
  const Result<std::vector<Choice>> choices = choose_schedules(plan, target, nullptr);
  CHECK(choices.has_value(), "{}", choices.error().message);
  Result<Program> program = compile_model(plan, *choices, target, options);
  CHECK(program.has_value(), "{}", program.error().message);
  return std::move(*program);
}

std::vector<float> floats(const Constant& constant) {
  std::vector<float> numbers(constant.bytes().size() / sizeof(float));
  std::memcpy(numbers.data(), constant.bytes().data(), constant.bytes().size());
  return numbers;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  float largest = 0;
  for (const float number : expected) largest = std::max(largest, std::abs(number));
  for (size_t k = 0; k < actual.size(); ++k) {
    ASSERT_NEAR(actual[k], expected[k], 1e-5F * largest) << k;
  }
}

}  // namespace tilewright::deploy
