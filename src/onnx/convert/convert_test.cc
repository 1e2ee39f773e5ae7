// Results of single operators on known inputs. The node tests of ONNX (tests/onnx) cover all
// operators; these are the cases in which versions and exporters differ.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "onnx/model_testing.h"

namespace tilewright::onnx {
namespace {

using Numbers = std::vector<double>;
using Shape = std::vector<int64_t>;

struct Operand {
  Shape shape;
  std::vector<float> values;
};

struct Computed {
  Shape shape;
  Numbers numbers;
  bool operator==(const Computed&) const = default;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
void PrintTo(const Computed& computed, std::ostream* out) {
  *out << testing::PrintToString(computed.shape) << testing::PrintToString(computed.numbers);
}

class OneNode {
 public:
  explicit OneNode(const std::string& op, int64_t version = 17) : model_(version) {
    node_ = &model_.node(op, {}, {"y"});
    model_.output("y");
  }
  OneNode& operand(const Operand& operand) {
    const std::string name = "x" + std::to_string(node_->input_size());
    model_.floats(name, operand.shape, operand.values);
    node_->add_input(name);
    return *this;
  }
  OneNode& list(const std::vector<int64_t>& values) {
    const std::string name = "x" + std::to_string(node_->input_size());
    model_.integers(name, values);
    node_->add_input(name);
    return *this;
  }
  OneNode& left_out() {
    node_->add_input("");
    return *this;
  }
  template <class Value>
  OneNode& set(const std::string& name, const Value& value) {
    set_attribute(*node_, name, value);
    return *this;
  }

  Computed compute() const {
    const auto graph = model_.import();
    if (!graph) {
      ADD_FAILURE() << graph.error().message;
      return {};
    }
    const graph::Value& value = graph->value(graph->outputs()[0]);
    if (!value.is_constant()) {
      ADD_FAILURE() << "not computed";
      return {};
    }
    Computed computed{.shape = value.type.shape, .numbers = {}};
    for (int64_t k = 0; k < value.type.elements(); ++k) {
      computed.numbers.push_back(value.constant.number(k));
    }
    return computed;
  }

 private:
  ModelWriter model_;
  ::onnx::NodeProto* node_;
};

Operand counting(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  Operand operand{.shape = shape, .values = {}};
  for (int64_t k = 0; k < count; ++k) operand.values.push_back(static_cast<float>(k));
  return operand;
}

TEST(ConvertTest, SlicesBackwards) {
  EXPECT_EQ(OneNode("Slice")
                .operand(counting({6}))
                .list({-1})
                .list({-100})
                .list({0})
                .list({-2})
                .compute(),
            (Computed{{3}, {5, 3, 1}}));
  EXPECT_EQ(OneNode("Slice", 9)
                .operand(counting({2, 3}))
                .set("starts", Shape{1})
                .set("ends", Shape{1000})
                .set("axes", Shape{-1})
                .compute(),
            (Computed{{2, 2}, {1, 2, 4, 5}}));
}

TEST(ConvertTest, PadsByAxis) {
  EXPECT_EQ(OneNode("Pad", 18)
                .operand(counting({2, 2}))
                .list({1, -1})
                .operand({{}, {9}})
                .list({-1})
                .compute(),
            (Computed{{2, 2}, {9, 0, 9, 2}}));
  EXPECT_EQ(OneNode("Pad")
                .operand(counting({4}))
                .list({2, 1})
                .set("mode", std::string("reflect"))
                .compute(),
            (Computed{{7}, {2, 1, 0, 1, 2, 3, 2}}));
}

TEST(ConvertTest, PoolsWithCeilMode) {
  const auto pool = [](const std::string& op, int64_t include) {
    OneNode node(op, 19);
    node.operand(counting({1, 1, 4}))
        .set("kernel_shape", Shape{3})
        .set("strides", Shape{2})
        .set("ceil_mode", int64_t{1});
    if (op == "AveragePool") node.set("count_include_pad", include);
    return node.compute().numbers;
  };
  EXPECT_EQ(pool("MaxPool", 0), (Numbers{2, 3}));
  EXPECT_EQ(pool("AveragePool", 0), (Numbers{1, 2.5}));
  EXPECT_EQ(pool("AveragePool", 1), (Numbers{1, 2.5})) << "what hangs over is not counted";
}

TEST(ConvertTest, EinsumWithDiagonals) {
  EXPECT_EQ(
      OneNode("Einsum").operand(counting({3, 3})).set("equation", std::string("ii->i")).compute(),
      (Computed{{3}, {0, 4, 8}}));
  EXPECT_EQ(OneNode("Einsum")
                .operand(counting({2, 2}))
                .operand(counting({2, 2}))
                .set("equation", std::string("...j,j...->..."))
                .compute(),
            OneNode("Einsum")
                .operand(counting({2, 2}))
                .operand(counting({2, 2}))
                .set("equation", std::string("aj,ja->a"))
                .compute());
}

TEST(ConvertTest, TopK) {
  EXPECT_EQ(OneNode("TopK").operand({{1, 5}, {3, 9, 7, 9, 1}}).list({3}).compute(),
            (Computed{{1, 3}, {9, 9, 7}}));
  EXPECT_EQ(OneNode("TopK")
                .operand({{3, 2}, {3, 9, 7, 2, 1, 5}})
                .list({2})
                .set("axis", int64_t{0})
                .set("largest", int64_t{0})
                .compute(),
            (Computed{{2, 2}, {1, 2, 3, 5}}));
}

TEST(ConvertTest, OldSoftmaxFlattensTrailingAxes) {
  const Operand same{{1, 2, 2}, {1, 1, 1, 1}};
  EXPECT_EQ(OneNode("Softmax", 11).operand(same).compute().numbers,
            (Numbers{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(OneNode("Softmax", 13).operand(same).compute().numbers, (Numbers{0.5, 0.5, 0.5, 0.5}));
}

TEST(ConvertTest, GroupNormScalesGroupsThenChannels) {
  const Operand x{{1, 4, 2}, {-1, 1, -1, 1, -1, 1, -1, 1}};
  const auto norm = [&](int64_t version, const Operand& scale, const Operand& bias) {
    Numbers numbers = OneNode("GroupNormalization", version)
                          .operand(x)
                          .operand(scale)
                          .operand(bias)
                          .set("num_groups", int64_t{2})
                          .compute()
                          .numbers;
    for (double& number : numbers) number = std::round(number * 100) / 100;
    return numbers;
  };
  EXPECT_EQ(norm(18, {{2}, {1, 2}}, {{2}, {0, 10}}), (Numbers{-1, 1, -1, 1, 8, 12, 8, 12}));
  EXPECT_EQ(norm(21, {{4}, {1, 1, 2, 2}}, {{4}, {0, 0, 10, 10}}),
            (Numbers{-1, 1, -1, 1, 8, 12, 8, 12}));
}

TEST(ConvertTest, TransposedConvolutionWithOutputShape) {
  const auto shape_of = [](const std::function<void(OneNode&)>& more) {
    OneNode node("ConvTranspose");
    node.operand(counting({1, 1, 3})).operand(counting({1, 1, 3})).set("strides", Shape{3});
    more(node);
    return node.compute().shape;
  };
  EXPECT_EQ(shape_of([](OneNode&) {}), (Shape{1, 1, 9}));
  EXPECT_EQ(shape_of([](OneNode& n) { n.set("output_shape", Shape{10}); }), (Shape{1, 1, 10}));
  EXPECT_EQ(shape_of([](OneNode& n) { n.set("output_padding", Shape{1}); }), (Shape{1, 1, 10}));
  EXPECT_EQ(shape_of([](OneNode& n) { n.set("auto_pad", std::string("SAME_UPPER")); }),
            (Shape{1, 1, 9}));
}

TEST(ConvertTest, Col2Im) {
  // of two blocks of 3 at 0 and 2 in an image of 6, one element is in both and one in none
  EXPECT_EQ(OneNode("Col2Im", 18)
                .operand({{1, 3, 2}, {1, 4, 2, 5, 3, 6}})
                .list({6})
                .list({3})
                .set("strides", Shape{2})
                .compute(),
            (Computed{{1, 1, 6}, {1, 2, 7, 5, 6, 0}}));
}

TEST(ConvertTest, InterpolatesBetweenElementsAndAtBorders) {
  const auto sample = [](const std::string& mode, const std::string& padding, int64_t align) {
    return OneNode("GridSample", 20)
        .operand({{1, 1, 2, 4}, {0, 1, 2, 3, 10, 11, 12, 13}})
        .operand({{1, 1, 4, 2}, {0, 0, 1, -1, -0.75, 0, 2, 3}})
        .set("mode", mode)
        .set("padding_mode", padding)
        .set("align_corners", align)
        .compute();
  };
  EXPECT_EQ(sample("linear", "zeros", 0), (Computed{{1, 1, 1, 4}, {6.5, 0.75, 5, 0}}));
  EXPECT_EQ(sample("linear", "border", 0), (Computed{{1, 1, 1, 4}, {6.5, 3, 5, 13}}));
  EXPECT_EQ(sample("linear", "reflection", 0), (Computed{{1, 1, 1, 4}, {6.5, 3, 5, 1.5}}));
  EXPECT_EQ(sample("linear", "zeros", 1), (Computed{{1, 1, 1, 4}, {6.5, 3, 5.375, 0}}));
  EXPECT_EQ(sample("nearest", "zeros", 0), (Computed{{1, 1, 1, 4}, {2, 0, 0, 0}}));
}

TEST(ConvertTest, GridSample) {
  OneNode node("AffineGrid", 20);
  node.operand({{1, 2, 3}, {1, 0, 0.5, 0, 2, 0}}).list({1, 1, 1, 2});
  EXPECT_EQ(node.compute(), (Computed{{1, 1, 2, 2}, {0, 0, 1, 0}}));
  EXPECT_EQ(node.set("align_corners", int64_t{1}).compute(),
            (Computed{{1, 1, 2, 2}, {-0.5, -2, 1.5, -2}}));
}

TEST(ConvertTest, UnknownAttributesAreUnsupported) {
  ModelWriter model;
  model.input("x", {2});
  set_attribute(model.node("Relu", {"x"}, {"y"}), "upside_down", int64_t{1});
  model.output("y");
  const auto graph = model.import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_NE(graph.error().message.find("'y' (Relu): its attribute upside_down"), std::string::npos);
}

TEST(ConvertTest, SequencesAreUnpacked) {
  ModelWriter model;
  model.input("x", {4, 2});
  model.integers("one", {1}).clear_dims();
  model.node("SplitToSequence", {"x", "one"}, {"parts"});
  model.integers("last", {-1}).clear_dims();
  model.node("SequenceAt", {"parts", "last"}, {"end"});
  model.node("SequenceConstruct", {"end", "end"}, {"twice"});
  auto& joined = model.node("ConcatFromSequence", {"twice"}, {"y"});
  set_attribute(joined, "axis", int64_t{0});
  set_attribute(joined, "new_axis", int64_t{1});
  model.output("y");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, (Shape{2, 1, 2}));
}

}  // namespace
}  // namespace tilewright::onnx
