#include "onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "onnx/model_testing.h"
#include "onnx/shapes.h"

namespace tilewright::onnx {
namespace {

using graph::TensorType;
using ir::Scalar;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const Result<graph::Graph>& graph) {
  return graph ? "imported" : graph.error().message;
}

TensorType output_type(const graph::Graph& graph) { return graph.value(graph.outputs()[0]).type; }

std::vector<std::string> ops_of(const graph::Graph& graph) {
  std::vector<std::string> ops;
  for (const graph::Node& node : graph.nodes()) ops.push_back(node.op);
  return ops;
}

TEST(ImportTest, NodesBecomeNodes) {
  ModelWriter model;
  model.input("x", {1, 3, 8, 8});
  model.floats("w", {4, 3, 3, 3}, std::vector<float>(108, 1));
  model.floats("b", {4}, {1, 2, 3, 4});
  auto& conv = model.node("Conv", {"x", "w", "b"}, {"c"});
  conv.set_name("first");
  set_attribute(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  set_attribute(conv, "strides", std::vector<int64_t>{2, 2});
  model.node("Relu", {"c"}, {"y"});
  model.output("y");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), testing::ElementsAre("conv", "add", "relu"));
  EXPECT_EQ(output_type(*graph), (TensorType{.element = Scalar::F32, .shape = {1, 4, 4, 4}}));
  EXPECT_EQ(graph->value(graph->outputs()[0]).name, "y");
  EXPECT_EQ(graph->output_names(), std::vector<std::string>{"y"});
  EXPECT_EQ(graph->node(0).origin, std::vector<std::string>{"first"});
  EXPECT_EQ(graph->inputs().size(), 1U);
}

TEST(ImportTest, ARequestedStopIsAnError) {
  ModelWriter model;
  model.input("x", {4});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  const StopSource stop;
  EXPECT_EQ(error_of(model.import({.stop = stop.token()})), "imported");
  stop.request();
  EXPECT_EQ(error_of(model.import({.stop = stop.token()})), "stopped");
}

// Shape -> Gather -> Unsqueeze -> Concat -> Reshape, as exporters write a view.
TEST(ImportTest, ShapeArithmeticIsFolded) {
  ModelWriter model;
  model.input("x", {2, 3, 4});
  model.integers("one", {1});
  model.integers("minus", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "minus"}, {"last"});
  model.node("Mul", {"last", "one"}, {"same"});
  model.node("Concat", {"minus", "same"}, {"to"});
  set_attribute(*model.proto().mutable_graph()->mutable_node(3), "axis", 0);
  model.node("Reshape", {"x", "to"}, {"y"});
  model.output("y");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), testing::ElementsAre("reshape"));
  EXPECT_EQ(output_type(*graph).shape, (std::vector<int64_t>{6, 4}));
}

TEST(ImportTest, OneErrorListsEveryUnsupportedNode) {
  ModelWriter model;
  model.input("x", {1, 3});
  model.node("Frobnicate", {"x"}, {"a"}).set_name("first");
  model.node("Relu", {"a"}, {"b"});
  model.node("Unique", {"b"}, {"c"}).set_name("second");
  model.node("Loop", {"x"}, {"unused"}).set_name("third");
  model.output("c");
  const auto graph = model.import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(graph.error().message, HasSubstr("2 nodes"));
  EXPECT_THAT(graph.error().message, HasSubstr("'first' (Frobnicate)"));
  EXPECT_THAT(graph.error().message, HasSubstr("'second' (Unique)"));
  EXPECT_THAT(graph.error().message, Not(HasSubstr("third"))) << "it is unused";
}

TEST(ImportTest, SymbolicDimensionsAreRequested) {
  ModelWriter model;
  model.input("x", {0, 3, 224});
  model.input("mask", {0});
  model.node("Add", {"x", "mask"}, {"y"});
  model.output("y");
  const auto graph = model.import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_THAT(graph.error().message, HasSubstr("'x' ([n,3,224])"));
  EXPECT_EQ(graph.error().options,
            (std::vector<OptionHint>{{"input_shapes", "x:[1,3,224];mask:[1]"}}));
  // Both call it n.
  EXPECT_THAT(error_of(model.import({.input_shapes = {{"x", {5, 3, 224}}, {"mask", {224}}}})),
              HasSubstr("the dimension n both 5 and 224"));
  const auto shaped = model.import({.input_shapes = {{"x", {224, 3, 224}}}});
  ASSERT_TRUE(shaped.has_value()) << shaped.error().message;
  EXPECT_EQ(output_type(*shaped).shape, (std::vector<int64_t>{224, 3, 224}));
  EXPECT_THAT(error_of(model.import({.input_shapes = {{"x", {5, 4, 224}}, {"mask", {1}}}})),
              HasSubstr("the model has [n,3,224]"));
  EXPECT_THAT(error_of(model.import({.input_shapes = {{"z", {1}}}})),
              HasSubstr("'z', which is not an input; the model has 'x', 'mask'"));
}

TEST(ImportTest, UnknownRanksAreRequested) {
  ModelWriter model;
  model.input("x", {1, 3});
  model.input("mask", {});
  model.proto()
      .mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  model.node("Add", {"x", "mask"}, {"y"});
  model.output("y");
  const auto graph = model.import();
  EXPECT_THAT(error_of(graph),
              HasSubstr("the shape of input 'mask' (no shape) is not fixed; give it"));
  EXPECT_EQ(graph.error().options, (std::vector<OptionHint>{{"input_shapes", "mask:[...]"}}));
  const auto shaped = model.import({.input_shapes = {{"mask", {5, 1}}}});
  ASSERT_TRUE(shaped.has_value()) << shaped.error().message;
  EXPECT_EQ(output_type(*shaped).shape, (std::vector<int64_t>{5, 3}));
}

// Also if messages show a different name from the one in the file.
TEST(ImportTest, InputsWithInitializersAreConstants) {
  const std::string name = std::string(300, 'w') + "\n";
  ModelWriter model;
  model.input("x", {2});
  model.input(name, {2});
  model.floats(name, {2}, {1, 2});
  model.node("Add", {"x", name}, {"y"});
  model.output("y");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->inputs().size(), 1U);
}

TEST(ImportTest, NamesAreTruncatedAtCodePoints) {
  const std::string layer = "\xE5\xB1\x82";
  EXPECT_EQ(shown("conv\n1 " + layer), "conv 1 " + layer);
  EXPECT_EQ(shown("bad \xFF"), "bad ?");
  std::string name, start;
  for (int k = 0; k < 201; ++k) name += layer;
  for (int k = 0; k < 199; ++k) start += layer;
  EXPECT_EQ(shown(name), start + "~");
  EXPECT_EQ(shown(start + layer), start + layer);
}

TEST(ImportTest, InputsWithValuesAreConstants) {
  ModelWriter model;
  model.input("x", {2, 3});
  model.input("shape", {1}, ::onnx::TensorProto::INT64);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  EXPECT_THAT(error_of(model.import()),
              HasSubstr("its shape must be known when the model is compiled, and depends on the "
                        "input 'shape'"));
  const int64_t six[] = {6};
  ImportOptions options;
  options.input_values["shape"] = graph::Constant::of_integers({1}, six);
  const auto graph = model.import(options);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->inputs().size(), 1U);
  EXPECT_EQ(output_type(*graph).shape, std::vector<int64_t>{6});
}

TEST(ImportTest, FunctionsAreInlined) {
  ModelWriter model;
  model.import_set("own", 1);
  model.input("x", {4});
  auto& call = model.node("Scaled", {"x"}, {"y"});
  call.set_domain("own");
  call.set_name("call");
  set_attribute(call, "axis", -1);
  model.output("y");
  auto& function = *model.proto().add_functions();
  function.set_name("Scaled");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  auto* set = function.add_opset_import();
  set->set_version(17);
  ModelWriter::write_node(*function.add_node(), "Exp", {"a"}, {"e"});
  auto& softmax = ModelWriter::write_node(*function.add_node(), "Softmax", {"e"}, {"b"});
  auto* axis = softmax.add_attribute();
  axis->set_name("axis");
  axis->set_type(::onnx::AttributeProto::INT);
  axis->set_ref_attr_name("axis");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), testing::ElementsAre("exp", "softmax"));
  EXPECT_EQ(graph->node(0).origin, std::vector<std::string>{"call/e"});
}

// A field of length `bytes` under `number`, as protobuf writes it.
std::string field_of(int number, const std::string& bytes) {
  const int tag = number << 3 | 2;
  std::string text;
  if (tag >= 128) text += static_cast<char>((tag & 127) | 128);
  text += static_cast<char>(tag < 128 ? tag : tag >> 7);
  return text + static_cast<char>(bytes.size()) + bytes;
}

TEST(ImportTest, UnknownFieldsAreSkipped) {
  ModelWriter model;
  model.input("x", {4});
  auto& node = model.node("Relu", {"x"}, {"y"});
  model.output("y");
  const auto plain = model.import();
  ASSERT_TRUE(plain.has_value()) << plain.error().message;
  // doc_string of the node and metadata_props, which the schema does not have
  ASSERT_TRUE(node.MergeFromString(field_of(6, "a comment") + field_of(9, field_of(1, "key"))));
  // ir_version, producer_name, and fields of formats to come: a list of strings, a nested message
  std::string bytes = std::string("\x08\x0d", 2) + field_of(2, "somebody") + model.bytes();
  bytes += field_of(14, field_of(1, "k") + field_of(2, "v")) + field_of(200, "later");
  const auto graph = import_bytes(std::as_bytes(std::span(bytes)), {}, {});
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->to_string(), plain->to_string());
}

TEST(ImportTest, RecursiveFunctionsAreRejected) {
  ModelWriter model;
  model.import_set("own", 1);
  model.input("x", {4});
  model.node("F", {"x"}, {"y"}).set_domain("own");
  model.output("y");
  auto& function = *model.proto().add_functions();
  function.set_name("F");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  ModelWriter::write_node(*function.add_node(), "F", {"a"}, {"c"}).set_domain("own");
  ModelWriter::write_node(*function.add_node(), "F", {"c"}, {"b"}).set_domain("own");
  EXPECT_THAT(error_of(model.import()), HasSubstr("calls itself"));
}

void write_branch(::onnx::NodeProto& node, const std::string& name, const std::string& op) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  ModelWriter::write_node(*attribute->mutable_g()->add_node(), op, {"x"}, {"out"});
  attribute->mutable_g()->add_output()->set_name("out");
}

TEST(ImportTest, ConstantBranchesAreInlined) {
  ModelWriter model;
  model.input("x", {2, 3});
  model.integers("three", {3});
  model.node("Shape", {"x"}, {"shape"});
  model.integers("last", {1});
  model.node("Gather", {"shape", "last"}, {"columns"});
  model.node("Equal", {"columns", "three"}, {"is_three"});
  auto& branch = model.node("If", {"is_three"}, {"y"});
  write_branch(branch, "then_branch", "Exp");
  write_branch(branch, "else_branch", "NotSupportedAnywhere");
  model.output("y");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), testing::ElementsAre("exp"));
}

TEST(ImportTest, BranchesOnInputsAreNotSupported) {
  ModelWriter model;
  model.input("x", {2, 3});
  model.input("c", {1}, ::onnx::TensorProto::BOOL);
  auto& branch = model.node("If", {"c"}, {"y"});
  write_branch(branch, "then_branch", "Exp");
  write_branch(branch, "else_branch", "Log");
  model.output("y");
  const auto graph = model.import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(graph.error().message, HasSubstr("'y' (If): its condition must be known"));
}

TEST(ImportTest, OlderOperatorSets) {
  // Softmax took everything from its axis on as one until version 13.
  for (const int64_t version : {11, 13}) {
    ModelWriter model(version);
    model.input("x", {2, 3, 4});
    set_attribute(model.node("Softmax", {"x"}, {"y"}), "axis", 1);
    model.output("y");
    const auto graph = model.import();
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const auto ops = ops_of(*graph);
    EXPECT_EQ(std::ranges::count(ops, "reshape"), version < 13 ? 2 : 0);
    EXPECT_EQ(output_type(*graph).shape, (std::vector<int64_t>{2, 3, 4}));
  }
  // Axes were attributes before they were operands.
  for (const int64_t version : {11, 13}) {
    ModelWriter model(version);
    model.input("x", {2, 1, 4});
    if (version < 13) {
      set_attribute(model.node("Squeeze", {"x"}, {"y"}), "axes", std::vector<int64_t>{1});
    } else {
      model.integers("axes", {1});
      model.node("Squeeze", {"x", "axes"}, {"y"});
    }
    model.output("y");
    const auto graph = model.import();
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_EQ(output_type(*graph).shape, (std::vector<int64_t>{2, 4}));
  }
  ModelWriter ancient(6);
  ancient.input("x", {2});
  ancient.node("Relu", {"x"}, {"y"});
  ancient.output("y");
  EXPECT_THAT(error_of(ancient.import()), HasSubstr("operator set 6; those from 7"));
}

TEST(ImportTest, EmptyConcatOperandsAreDropped) {
  ModelWriter model;
  model.input("x", {2, 3});
  model.floats("past", {2, 0}, {});
  set_attribute(model.node("Concat", {"past", "x"}, {"y"}), "axis", 1);
  model.node("Relu", {"y"}, {"z"});
  model.output("z");
  const auto graph = model.import();
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_THAT(ops_of(*graph), testing::ElementsAre("relu"));
}

TEST(ImportTest, ReadsShapesFromText) {
  const auto shapes = parse_input_shapes("x:[1,3,224,224]; mask:[ 1, 128 ] s:[]");
  ASSERT_TRUE(shapes.has_value()) << shapes.error().message;
  EXPECT_EQ(shapes->at("x"), (std::vector<int64_t>{1, 3, 224, 224}));
  EXPECT_EQ(shapes->at("mask"), (std::vector<int64_t>{1, 128}));
  EXPECT_TRUE(shapes->at("s").empty());
  EXPECT_EQ(parse_input_shapes("onnx::Conv_0:[2]")->at("onnx::Conv_0"), std::vector<int64_t>{2});
  for (const char* text : {"", "x", "x:", "x:[", "x:[1", "x:[1,]", "x:[a]", "x:[0]", "x:[-1]",
                           ":[1]", "x:[1]y:[1]", "x:[1];x:[2]", "x:[99999999999999999999]"}) {
    const auto bad = parse_input_shapes(text);
    ASSERT_FALSE(bad.has_value()) << text;
    ASSERT_EQ(bad.error().options.size(), 1u) << text;
    EXPECT_EQ(bad.error().options[0].option, "input_shapes") << text;
  }
}

}  // namespace
}  // namespace tilewright::onnx
