#include "cli/graph_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/graph_svg.h"
#include "deploy/plan_model.h"
#include "deploy/plan_workload.h"
#include "graph/graph_testing.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

app::GraphView small_view() {
  return {.name = "a<b>.onnx",
          .boxes = {{.title = "x", .detail = "f32[4]"},
                    {.title = "conv & relu",
                     .detail = "f32[8]",
                     .nodes = {"conv (Conv_0)", "relu (Relu_1)"},
                     .task = Hash128{.high = 0x0123456789ab0000, .low = 0},
                     .ns = 3000,
                     .from = {0}},
                    {.title = "add",
                     .detail = "f32[8]",
                     .nodes = {"add"},
                     .task = Hash128{.high = 0xba98765432100000, .low = 0},
                     .ns = 1000,
                     .from = {0, 1}},
                    {.title = "y", .detail = "f32[8]", .from = {2}}}};
}

TEST(GraphView, TextHasNodesAndReaders) {
  const std::string text = graph_text(small_view());
  EXPECT_THAT(text, HasSubstr("conv & relu: f32[8] <- 0\n"));
  EXPECT_THAT(text, HasSubstr("relu (Relu_1)"));
  EXPECT_THAT(text, HasSubstr("add: f32[8] <- 0, 1\n"));
  const Json json = graph_json(small_view());
  EXPECT_EQ(json.at("groups").size(), 4U);
  EXPECT_EQ(json.at("groups").at(1).at("ns"), 3000);
  EXPECT_FALSE(json.at("groups").at(0).contains("task"));
}

TEST(GraphView, PictureIsEscapedAndHasEveryEdge) {
  const std::string svg = graph_svg(small_view());
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;.onnx"));
  EXPECT_THAT(svg, HasSubstr("conv &amp; relu"));
  EXPECT_THAT(svg, Not(HasSubstr("conv & relu")));
  EXPECT_THAT(svg, HasSubstr("3 us, 75.0 %"));
  size_t edges = 0;
  for (size_t at = 0; (at = svg.find("marker-end", at)) != std::string::npos; ++at) ++edges;
  EXPECT_EQ(edges, 4U);
  EXPECT_THAT(graph_svg({}), HasSubstr("</svg>"));
}

double attribute_of(const std::string& svg, const std::string& name) {
  const size_t at = svg.find(" " + name + "=\"");
  return at == std::string::npos ? 0 : std::stod(svg.substr(at + name.size() + 3));
}

// Names of any bytes: truncated between code points, with invalid UTF-8 replaced.
TEST(GraphView, PictureIsValidForAnyName) {
  app::GraphView view = small_view();
  std::string layers;
  for (int k = 0; k < 70; ++k) layers += "\xE5\xB1\x82";
  view.boxes[1].title = layers;
  view.boxes[2].title = "bad \xFF\x01 name";
  const std::string svg = graph_svg(view);
  EXPECT_EQ(clean_utf8(svg).find('?'), svg.find('?'));
  EXPECT_THAT(svg, HasSubstr(layers.substr(0, 59 * 3) + "~<"));
  EXPECT_THAT(svg, HasSubstr("bad ?  name"));
}

// A picture is at least as wide as its heading.
TEST(GraphView, HeadingIsNotTruncated) {
  const app::GraphView narrow{.name = std::string(90, 'm') + ".onnx",
                              .boxes = {{.title = "x", .detail = "f32[4]"}}};
  EXPECT_GE(attribute_of(graph_svg(narrow), "width"), 95 * 6.6);
}

TEST(GraphView, OfOneKernel) {
  const Workload workload = parse_workload("matmul:m=8,n=8,k=8,constant=none").value();
  const deploy::ModelPlan plan = deploy::plan_workload(workload, {});
  const Target target = host_target(1);
  std::vector<deploy::Choice> choices(1);
  choices[0].record.emplace().verdict.latency_ns = 700;
  const app::GraphView view = app::view_of(plan, choices, target, "matmul");
  ASSERT_EQ(view.boxes.size(), 4U);  // two inputs, the kernel, one output
  EXPECT_EQ(view.boxes[2].from, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(view.boxes[3].from, (std::vector<size_t>{2}));
  EXPECT_EQ(view.sum_ns(), 700);
  EXPECT_TRUE(view.boxes[2].nodes.empty());  // it was no node of a model
}

TEST(GraphView, EdgesFollowThePartsOfAConcat) {
  graph::TestGraph g;
  const graph::ValueId x = g.input("x", {1, 4, 4, 16});
  const graph::ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 3);
  const graph::ValueId joined = g.add("concat", {a, b}, {{"axis", int64_t{1}}});
  const graph::Graph graph = g.finish({g.conv(joined, 8, 3), g.conv(b, 8, 3)});
  const Target target = host_target(1);
  const auto plan = deploy::plan_model(graph, target);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const std::vector<deploy::Choice> choices(plan->partition.kernels.size());
  const app::GraphView view = app::view_of(*plan, choices, target, "parts");
  ASSERT_EQ(view.boxes.size(), 7U);  // the input, four kernels, two outputs
  EXPECT_EQ(view.boxes[3].from, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(view.boxes[4].from, (std::vector<size_t>{2})) << "not of the whole concat";
}

}  // namespace
}  // namespace tilewright::cli
