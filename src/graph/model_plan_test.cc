// Models through passes, partition and memory plan, run on real bytes where the plan has them, each
// group by its definition: the outputs are those of the Graph as it was.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "graph/evaluate.h"
#include "graph/graph_testing.h"
#include "graph/memory_plan.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/passes/model_testing.h"
#include "graph/separate_outputs.h"
#include "layout/layout.h"

namespace tilewright::graph {
namespace {

class PlanRunner {
 public:
  PlanRunner(const Graph& graph, const Partition& parts, const MemoryPlan& plan)
      : graph_(graph), parts_(parts), plan_(plan) {}

  std::vector<Constant> run(const std::vector<Constant>& inputs) {
    memory_[{Home::Arena, 0}].assign(static_cast<size_t>(plan_.arena_bytes), std::byte{0xff});
    for (size_t k = 0; k < inputs.size(); ++k) fill(Home::Input, k, inputs[k]);
    for (size_t k = 0; k < plan_.constants.size(); ++k) {
      fill(Home::Constant, k, graph_.value(plan_.constants[k]).constant);
    }
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const auto bytes = static_cast<size_t>(graph_.value(graph_.outputs()[k]).type.bytes());
      memory_[{Home::Output, static_cast<int64_t>(k)}].assign(bytes, std::byte{0xff});
    }
    for (const Group& group : parts_.groups) run_group(group);
    std::vector<Constant> outputs;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      outputs.push_back(Constant::of_bytes(graph_.value(graph_.outputs()[k]).type,
                                           memory_[{Home::Output, static_cast<int64_t>(k)}]));
    }
    return outputs;
  }

 private:
  void fill(Home home, size_t index, const Constant& value) {
    memory_[{home, static_cast<int64_t>(index)}].assign(value.bytes().begin(), value.bytes().end());
  }

  // Calls f(address of element, number of the element in row-major order).
  template <class F>
  void for_each(const Group& group, size_t k, F f) {
    const Value& value = graph_.value(group.arguments[k]);
    const ArenaSlot& place = plan_.places[group.arguments[k]];
    std::vector<std::byte>& memory = memory_.at({place.home, place.index});
    const int64_t bytes = ir::bytes_of(value.type.element);
    const Operand& operand = group.workload.operands[k];
    const layout::Layout layout =
        operand.layout.free ? layout::Layout::row_major(value.type.shape) : operand.storage();
    EXPECT_EQ(place.offset % operand.alignment, 0);
    std::vector<int64_t> indices(value.type.shape.size());
    for (int64_t e = 0; e < value.type.elements(); ++e) {
      const int64_t at = place.offset + bytes * layout.offset(indices);
      ASSERT_LE(at + bytes, std::ssize(memory)) << group.title;
      f(memory.data() + at, e);
      for (size_t d = indices.size(); d > 0 && ++indices[d - 1] == value.type.shape[d - 1]; --d) {
        indices[d - 1] = 0;
      }
    }
  }

  void run_group(const Group& group) {
    std::vector<Constant> inputs;
    size_t k = 0;
    for (; group.workload.operands[k].role != Role::Output; ++k) {
      const TensorType& type = graph_.value(group.arguments[k]).type;
      const auto bytes = static_cast<size_t>(ir::bytes_of(type.element));
      std::vector<std::byte> dense(static_cast<size_t>(type.bytes()));
      for_each(group, k, [&](const std::byte* from, int64_t e) {
        std::memcpy(dense.data() + static_cast<size_t>(e) * bytes, from, bytes);
      });
      inputs.push_back(Constant::of_bytes(type, std::move(dense)));
    }
    const auto results = evaluate(*group.workload.dag, inputs);
    ASSERT_TRUE(results.has_value()) << results.error().message;
    for (const Constant& result : *results) {
      const auto bytes = static_cast<size_t>(ir::bytes_of(result.type().element));
      for_each(group, k++, [&](std::byte* to, int64_t e) {
        std::memcpy(to, result.bytes().data() + static_cast<size_t>(e) * bytes, bytes);
      });
    }
  }

  const Graph& graph_;
  const Partition& parts_;
  const MemoryPlan& plan_;
  std::map<std::pair<Home, int64_t>, std::vector<std::byte>> memory_;
};

struct Planned {
  Graph graph;
  Partition parts;
  MemoryPlan plan;
};

Planned planned(const Graph& graph, const PartitionOptions& options = {}) {
  const auto passed = run_passes(graph, {});
  EXPECT_TRUE(passed.has_value()) << passed.error().message;
  auto separate = separate_outputs(*passed);
  EXPECT_TRUE(separate.has_value()) << separate.error().message;
  auto parts = partition(*separate, options);
  EXPECT_TRUE(parts.has_value()) << parts.error().message;
  auto plan = plan_memory(*separate, *parts);
  return {.graph = *std::move(separate), .parts = *std::move(parts), .plan = *std::move(plan)};
}

TEST(ModelPlan, OutputsMatchTheGraph) {
  for (const TestModel& model : test_models()) {
    SCOPED_TRACE(model.name);
    const std::vector<Constant> inputs = random_inputs(model.graph, 3);
    const std::vector<Constant> expected = evaluate_graph(model.graph, inputs);
    PartitionOptions apart, all, plain;
    apart.fuse = false;
    plain.concat_in_place = plain.pack_weights = false;
    all.pays = [](const Graph&, const FusionQuestion&) { return true; };
    for (const PartitionOptions& options : {PartitionOptions(), apart, all, plain}) {
      const Planned model_plan = planned(model.graph, options);
      PlanRunner runner(model_plan.graph, model_plan.parts, model_plan.plan);
      EXPECT_LE(largest_error(expected, runner.run(inputs)), 1e-5);
      EXPECT_LE(10 * model_plan.plan.arena_bytes, 12 * model_plan.plan.live_bytes);
    }
  }
}

std::vector<std::string> titles(const Planned& model) {
  std::vector<std::string> all;
  for (const Group& group : model.parts.groups) all.push_back(group.title);
  return all;
}

TEST(ModelPlan, DenseBlocksAndFireModulesNeedNoConcatKernels) {
  for (const Graph& graph : {densenet_block(), squeezenet_fire()}) {
    for (const std::string& title : titles(planned(graph))) {
      EXPECT_FALSE(title.contains("concat")) << title;
    }
  }
}

TEST(ModelPlan, TransformersHaveNoCopyKernels) {
  for (const Graph& graph : {bert_layer(), llama_layer()}) {
    for (const std::string& title : titles(planned(graph))) {
      EXPECT_FALSE(title.starts_with("transpose") || title.starts_with("slice")) << title;
    }
  }
}

}  // namespace
}  // namespace tilewright::graph
