// LSTM, GRU and RNN: errors, and the form of the Graph. tests/onnx compares their values with
// ONNX's own tests and with ONNX Runtime.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/separate_outputs.h"
#include "onnx/model_testing.h"

namespace tilewright::onnx {
namespace {

using Shape = std::vector<int64_t>;

std::vector<float> counted(int64_t count) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(0.01F * static_cast<float>(k % 17) - 0.05F);
  return values;
}

struct Sizes {
  int64_t steps = 4, batch = 1, width = 3, hidden = 10, directions = 1;
};

// A recurrent operator with results Y and Y_h.
ModelWriter recurrent(const std::string& op, int64_t gates, const Sizes& sizes,
                      const std::function<void(::onnx::NodeProto&)>& more = {}) {
  ModelWriter model;
  const int64_t all = gates * sizes.hidden;
  model.input("x", {sizes.steps, sizes.batch, sizes.width});
  model.floats("w", {sizes.directions, all, sizes.width},
               counted(sizes.directions * all * sizes.width));
  model.floats("r", {sizes.directions, all, sizes.hidden},
               counted(sizes.directions * all * sizes.hidden));
  model.floats("b", {sizes.directions, 2 * all}, counted(sizes.directions * 2 * all));
  ::onnx::NodeProto& node = model.node(op, {"x", "w", "r", "b"}, {"y", "y_h"});
  if (more) more(node);
  model.output("y");
  model.output("y_h");
  return model;
}

graph::Partition kernels_of(const ModelWriter& model) {
  const auto graph = model.import();
  EXPECT_TRUE(graph.has_value()) << graph.error().message;
  if (!graph) return {};
  const auto passed = graph::run_passes(*graph, {});
  EXPECT_TRUE(passed.has_value()) << passed.error().message;
  const auto separate = graph::separate_outputs(*passed);
  auto parts = graph::partition(*separate, {});
  EXPECT_TRUE(parts.has_value()) << parts.error().message;
  return *std::move(parts);
}

TEST(RecurrentTest, TheNumberOfKernelsDoesNotDependOnTheNumberOfSteps) {
  const auto lstm = [](int64_t steps) {
    return kernels_of(recurrent("LSTM", 4, {.steps = steps, .hidden = 10}));
  };
  const graph::Partition few = lstm(8), many = lstm(60);
  EXPECT_EQ(few.kernels.size(), many.kernels.size());
  EXPECT_LE(many.kernels.size(), 8U);
  EXPECT_EQ(many.groups.size(), few.groups.size() + 52 * 3) << "a product, c and h for each step";
  for (const graph::Group& group : many.groups) {
    EXPECT_EQ(group.title.find("concat"), std::string::npos) << group.title;
  }
}

TEST(RecurrentTest, GruStepIsAProductAndAMap) {
  const auto reset_after = [](::onnx::NodeProto& node) {
    set_attribute(node, "linear_before_reset", int64_t{1});
  };
  const auto gru = [&](int64_t steps) {
    return kernels_of(recurrent("GRU", 3, {.steps = steps, .batch = 2}, reset_after));
  };
  EXPECT_EQ(gru(30).groups.size() - gru(10).groups.size(), 40U);
  EXPECT_EQ(gru(30).kernels.size(), gru(10).kernels.size());
}

std::string error_of(const ModelWriter& model) {
  const auto graph = model.import();
  return graph ? "no error" : graph.error().message;
}

TEST(RecurrentTest, Errors) {
  struct Case {
    Sizes sizes;
    std::function<void(::onnx::NodeProto&)> more;
    std::string message;
  };
  const Case cases[] = {
      {{},
       [](auto& node) { set_attribute(node, "direction", std::string("up")); },
       "direction is 'up'"},
      {{}, [](auto& node) { set_attribute(node, "layout", int64_t{2}); }, "layout is 2"},
      {{},
       [](auto& node) { set_attribute(node, "hidden_size", int64_t{7}); },
       "hidden_size is 7 for f32[1,40,10]"},
      {{},
       [](auto& node) { set_attribute(node, "direction", std::string("bidirectional")); },
       "operand 1 is f32[1,40,3], not [2,40,3]"},
      {{.steps = 5000}, {}, "5000 steps; up to 4096 are supported"},
      {{},
       [](auto& node) { set_attribute(node, "upside_down", int64_t{1}); },
       "its attribute upside_down"},
      {{},
       [](auto& node) {
         auto* attribute = node.add_attribute();
         attribute->set_name("activations");
         attribute->set_type(::onnx::AttributeProto::STRINGS);
         for (const char* name : {"Sigmoid", "Tanh", "Sine"}) attribute->add_strings(name);
       },
       "the activation 'sine'"},
      {{},
       [](auto& node) {
         auto* attribute = node.add_attribute();
         attribute->set_name("activations");
         attribute->set_type(::onnx::AttributeProto::STRINGS);
         attribute->add_strings("Tanh");
       },
       "1 activations instead of 3"},
  };
  for (const Case& one : cases) {
    const std::string message = error_of(recurrent("LSTM", 4, one.sizes, one.more));
    EXPECT_NE(message.find(one.message), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tilewright::onnx
