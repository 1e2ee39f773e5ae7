// Files that are cut short, contradict themselves or ask for the absurd: each gives one clear
// error, soon and in little memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "onnx/model_testing.h"

namespace tilewright::onnx {
namespace {

using testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 62;

std::string error_of(const ModelWriter& model) {
  const auto graph = model.import();
  return graph ? "imported" : graph.error().message;
}

std::string error_of_bytes(const std::string& bytes) {
  const auto graph = import_bytes(std::as_bytes(std::span(bytes)), {}, {});
  return graph ? "imported" : graph.error().message;
}

ModelWriter small_model() {
  ModelWriter model;
  model.input("x", {2, 3});
  model.floats("w", {3, 4}, std::vector<float>(12, 1));
  model.node("MatMul", {"x", "w"}, {"y"});
  model.output("y");
  return model;
}

TEST(HostileTest, EveryPrefixOfAModelIsAnError) {
  const std::string bytes = small_model().bytes();
  ASSERT_EQ(error_of_bytes(bytes), "imported");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error_of_bytes(bytes.substr(0, size)), "imported") << size;
  }
}

TEST(HostileTest, EveryFlippedByteIsAModelOrAnError) {
  const std::string bytes = small_model().bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int bits : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      EXPECT_FALSE(error_of_bytes(changed).empty());
    }
  }
}

TEST(HostileTest, DeepNestingIsRejected) {
  std::string inner;
  for (int depth = 0; depth < 5000; ++depth) {
    // A graph in an attribute of a node of a graph: fields 1, 5 and 6.
    for (const int field : {6, 5, 1}) {
      std::string outer(1, static_cast<char>(field << 3 | 2));
      for (size_t size = inner.size();; size >>= 7) {
        outer.push_back(static_cast<char>((size & 127) | (size > 127 ? 128 : 0)));
        if (size <= 127) break;
      }
      inner = outer + inner;
    }
    if (inner.size() > 200000) break;
  }
  std::string model("\x3a", 1);  // field 7: the graph
  for (size_t size = inner.size();; size >>= 7) {
    model.push_back(static_cast<char>((size & 127) | (size > 127 ? 128 : 0)));
    if (size <= 127) break;
  }
  EXPECT_THAT(error_of_bytes(model + inner), HasSubstr("not an ONNX model"));
}

TEST(HostileTest, InvalidReferences) {
  ModelWriter cycle;
  cycle.input("x", {2});
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Add", {"x", "a"}, {"b"});
  cycle.output("b");
  EXPECT_THAT(error_of(cycle), HasSubstr("'b' is used before anything defines it"));

  ModelWriter twice;
  twice.input("x", {2});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Exp", {"x"}, {"y"});
  twice.output("y");
  EXPECT_THAT(error_of(twice), HasSubstr("'y' is defined twice"));

  ModelWriter nothing;
  nothing.input("x", {2});
  nothing.output("nowhere");
  EXPECT_THAT(error_of(nothing), HasSubstr("'nowhere' is used before"));

  ModelWriter no_outputs;
  no_outputs.input("x", {2});
  EXPECT_THAT(error_of(no_outputs), HasSubstr("no outputs"));

  ModelWriter missing;
  missing.input("x", {2});
  missing.node("Add", {"x"}, {"y"});
  missing.output("y");
  EXPECT_THAT(error_of(missing), HasSubstr("node 'y' (Add)"));

  ModelWriter strange;
  strange.input("x", {2});
  strange.node("\n\x1b[31mOp", {"x"}, {"y"}).set_name(std::string(100000, 'n'));
  strange.output("y");
  EXPECT_LT(error_of(strange).size(), 1000U);
}

TEST(HostileTest, TensorsWithInvalidSizes) {
  struct Case {
    std::vector<int64_t> shape;
    size_t values;
    const char* says;
  };
  for (const Case& bad :
       {Case{{-1}, 1, "negative"}, Case{{kHuge, kHuge}, 1, "too large for memory"},
        Case{{3, 4}, 11, "it is f32[3,4] and has 44 bytes"},
        Case{std::vector<int64_t>(1000, 1), 1, "1000 dimensions"}}) {
    ModelWriter model;
    model.input("x", {2});
    model.floats("w", bad.shape, std::vector<float>(bad.values, 1));
    model.node("Add", {"x", "w"}, {"y"});
    model.output("y");
    EXPECT_THAT(error_of(model), HasSubstr(bad.says));
  }
  ModelWriter huge_input;
  huge_input.input("x", {kHuge, kHuge, kHuge});
  huge_input.node("Relu", {"x"}, {"y"});
  huge_input.output("y");
  EXPECT_NE(error_of(huge_input), "imported");
}

// One node, its list of integers an operand, on x: f32[2,3].
std::string error_of_list(const std::string& op, const std::vector<int64_t>& list) {
  ModelWriter model;
  model.input("x", {2, 3});
  model.integers("list", list);
  model.node(op, {"x", "list"}, {"y"});
  model.output("y");
  return error_of(model);
}

TEST(HostileTest, HugeResultsAreRejected) {
  for (const char* op : {"Expand", "Tile", "Reshape"}) {
    EXPECT_NE(error_of_list(op, {kHuge, kHuge}), "imported") << op;
    EXPECT_NE(error_of_list(op, {int64_t{1} << 40, 3}), "imported") << op;
    EXPECT_NE(error_of_list(op, {-5, 3}), "imported") << op;
    EXPECT_NE(error_of_list(op, std::vector<int64_t>(100000, 1)), "imported") << op;
  }
  EXPECT_NE(error_of_list("Pad", {kHuge, kHuge, kHuge, kHuge}), "imported");

  ModelWriter filled;
  filled.integers("shape", {int64_t{1} << 20, int64_t{1} << 20, int64_t{1} << 20});
  filled.node("ConstantOfShape", {"shape"}, {"y"});
  filled.output("y");
  EXPECT_NE(error_of(filled), "imported");

  for (const auto& [limit, delta] : {std::pair{kHuge, int64_t{1}},
                                     {int64_t{5}, int64_t{0}},
                                     {std::numeric_limits<int64_t>::min(), int64_t{-1}}}) {
    ModelWriter range;
    for (const auto& [name, value] :
         {std::pair{"start", int64_t{0}}, {"limit", limit}, {"delta", delta}}) {
      range.integers(name, {value}).clear_dims();
    }
    range.node("Range", {"start", "limit", "delta"}, {"y"});
    range.output("y");
    EXPECT_NE(error_of(range), "imported");
  }
}

TEST(HostileTest, ExcessiveAndMissingParts) {
  ModelWriter split(18);
  split.input("x", {int64_t{1} << 39});
  set_attribute(split.node("Split", {"x"}, {"y", "z"}), "num_outputs", int64_t{1} << 38);
  split.output("y");
  EXPECT_THAT(error_of(split), HasSubstr("parts"));

  ModelWriter eye;
  eye.floats("x", {4, 0}, {});
  eye.node("EyeLike", {"x"}, {"y"});
  eye.output("y");
  EXPECT_THAT(error_of(eye), HasSubstr("output 'y' has no elements"));

  ModelWriter blocks(21);
  blocks.floats("x", {2, 0}, {});
  blocks.floats("scale", {2, 0}, {});
  auto& node = blocks.node("DequantizeLinear", {"x", "scale"}, {"y"});
  set_attribute(node, "block_size", int64_t{4});
  blocks.output("y");
  EXPECT_NE(error_of(blocks), "imported");
}

TEST(HostileTest, AttributesOfAnotherKindOrSize) {
  ModelWriter kind;
  kind.input("x", {2, 3});
  set_attribute(kind.node("Softmax", {"x"}, {"y"}), "axis", "last");
  kind.output("y");
  EXPECT_THAT(error_of(kind),
              HasSubstr("node 'y' (Softmax): the attribute axis is not an integer"));

  for (const int64_t number : {kHuge, -kHuge, std::numeric_limits<int64_t>::min()}) {
    for (const char* name :
         {"strides", "pads", "dilations", "kernel_shape", "output_padding", "output_shape"}) {
      for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "AveragePool"}) {
        ModelWriter model;
        model.input("x", {1, 3, 8, 8});
        model.floats("w", {3, 3, 3, 3}, std::vector<float>(81, 1));
        auto& node = op == std::string("MaxPool") || op == std::string("AveragePool")
                         ? model.node(op, {"x"}, {"y"})
                         : model.node(op, {"x", "w"}, {"y"});
        const size_t count = name == std::string("pads") ? 4 : 2;
        set_attribute(node, name, std::vector<int64_t>(count, number));
        model.output("y");
        const bool unread =
            (name == std::string("output_padding") || name == std::string("output_shape")) &&
            op != std::string("ConvTranspose");
        if (unread) continue;
        EXPECT_NE(error_of(model), "imported") << op << " " << name;
      }
    }
    ModelWriter slice;
    slice.input("x", {2, 3});
    for (const char* name : {"starts", "ends", "axes", "steps"}) slice.integers(name, {number});
    slice.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    slice.output("y");
    EXPECT_NE(error_of(slice), "imported");
  }
}

TEST(HostileTest, FunctionExpansionIsLimited) {
  ModelWriter model;
  model.import_set("own", 1);
  model.input("x", {4});
  model.node("F0", {"x"}, {"y"}).set_domain("own");
  model.output("y");
  for (int k = 0; k < 40; ++k) {
    auto& function = *model.proto().add_functions();
    function.set_name("F" + std::to_string(k));
    function.set_domain("own");
    function.add_input("a");
    function.add_output("b");
    const std::string next = "F" + std::to_string(k + 1);
    ModelWriter::write_node(*function.add_node(), next, {"a"}, {"c"}).set_domain("own");
    ModelWriter::write_node(*function.add_node(), next, {"c"}, {"b"}).set_domain("own");
  }
  const auto graph = model.import();
  ASSERT_FALSE(graph.has_value());
}

}  // namespace
}  // namespace tilewright::onnx
