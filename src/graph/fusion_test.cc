#include "graph/fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/graph_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

// The operators of each group: `conv add relu | pool`.
std::string fused(const Graph& graph, const FusionPays& pays = fusion_pays_by_default) {
  const auto facts = facts_of(graph);
  EXPECT_TRUE(facts.has_value()) << facts.error().message;
  std::vector<std::string> groups;
  for (const FusedGroup& group : fuse(graph, *facts, pays)) {
    std::vector<std::string> names;
    for (const NodeId id : group.nodes) names.push_back(graph.node(id).op);
    groups.push_back(fmt::format("{}", fmt::join(names, " ")));
  }
  return fmt::format("{}", fmt::join(groups, " | "));
}

TEST(Fusion, EpiloguesAndResiduals) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const Graph graph = g.finish({g.residual_block(x)});
  EXPECT_EQ(fused(graph), "conv add relu | conv add add relu");
}

TEST(Fusion, ResidualOfTwoConvolutions) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId a = g.conv(x, 32, 3, 2);
  const ValueId b = g.conv(x, 32, 1, 2);
  const Graph graph = g.finish({g.add("relu", {g.add("add", {a, b})})});
  // The first convolution absorbs the addition, so it runs after the second.
  EXPECT_EQ(fused(graph), "conv | conv add relu");
  const auto facts = facts_of(graph);
  EXPECT_EQ(fuse(graph, *facts, fusion_pays_by_default)[1].anchor, 0U);
}

TEST(Fusion, ReconvergingPaths) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId c = g.conv(x, 16, 3);
  const ValueId silu = g.add("mul", {c, g.add("sigmoid", {c})});
  const Graph graph = g.finish({g.add("add", {silu, x})});
  EXPECT_EQ(fused(graph), "conv sigmoid mul add");
}

TEST(Fusion, DisjointPaths) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId c = g.conv(x, 16, 3);
  const ValueId one = g.conv(g.add("sigmoid", {c}), 16, 3);
  const ValueId two = g.conv(g.add("relu", {c}), 16, 3);
  const Graph graph = g.finish({g.add("add", {one, two})});
  EXPECT_EQ(fused(graph), "conv | sigmoid | relu | conv | conv add");
}

TEST(Fusion, OutputsEndAGroup) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId c = g.conv(x, 16, 3);
  const Graph graph = g.finish({g.add("relu", {c}), c});
  EXPECT_EQ(fused(graph), "conv | relu");
}

TEST(Fusion, DeadNodesAreOmitted) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId c = g.conv(x, 16, 3);
  g.add("sigmoid", {c});
  const Graph graph = g.finish({g.add("relu", {c})});
  EXPECT_EQ(fused(graph), "conv relu");
}

TEST(Fusion, GrowingBroadcastEndsAGroup) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 1, 1, 16});
  const ValueId y = g.input("y", {1, 8, 8, 16});
  const Graph graph = g.finish({g.add("mul", {g.conv(x, 16, 1), y})});
  EXPECT_EQ(fused(graph), "conv | mul");
}

TEST(Fusion, MapIsFusedIntoAConvolutionOnlyIfProfitable) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId active = g.add("relu", {g.add("mul", {x, g.weights({16})})});
  const Graph graph = g.finish({g.conv(active, 32, 3)});
  EXPECT_EQ(fused(graph), "mul relu | conv");
  double copies = 0;
  const FusionPays always = [&](const Graph&, const FusionQuestion& question) {
    copies = question.copies;
    return true;
  };
  EXPECT_EQ(fused(graph, always), "mul relu conv");
  EXPECT_EQ(copies, 32 * 9);

  TestGraph h;  // of one tap
  const ValueId y = h.input("y", {1, 8, 8, 16});
  const ValueId scaled = h.add("relu", {h.add("mul", {h.add("erf", {y}), h.weights({16})})});
  EXPECT_EQ(fused(h.finish({h.conv(scaled, 32, 1)})), "erf | mul relu conv");
  EXPECT_EQ(fused(h.finish({h.conv(scaled, 32, 1, 2)})), "erf mul relu | conv");
}

TEST(Fusion, MovesFuseIntoTheirReaders) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 3, 8, 8});
  const ValueId last = g.add("transpose", {x}, {{"perm", Shape{0, 2, 3, 1}}});
  const ValueId padded =
      g.add("pad", {last},
            {{"before", Shape{0, 1, 1, 0}}, {"after", Shape{0, 1, 1, 0}}, {"mode", "constant"}});
  const Graph graph = g.finish({g.conv_relu(padded, 8, 3)});
  EXPECT_EQ(fused(graph), "transpose pad conv add relu");
}

TEST(Fusion, SlicesOfOneProjection) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 16});
  const ValueId all = g.linear(x, 32);
  const auto part = [&](int64_t begin) {
    return g.add(
        "slice", {all},
        {{"begin", Shape{0, 0, begin}}, {"size", Shape{1, 8, 16}}, {"step", Shape{1, 1, 1}}});
  };
  const ValueId a = part(0), b = part(16);
  const Graph graph =
      g.finish({g.add("contract", {a, b}, {{"a", "bik"}, {"b", "bjk"}, {"out", "bij"}})});
  EXPECT_EQ(fused(graph), "contract add | slice slice contract");
}

TEST(Fusion, RotaryIsOneKernel) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 16});
  const ValueId sine = g.input("sine", {8, 16}), cosine = g.input("cosine", {8, 16});
  const auto half = [&](int64_t begin) {
    return g.add(
        "slice", {x},
        {{"begin", Shape{0, 0, begin}}, {"size", Shape{1, 8, 8}}, {"step", Shape{1, 1, 1}}});
  };
  const ValueId turned =
      g.add("concat", {g.add("neg", {half(8)}), half(0)}, {{"axis", int64_t{2}}});
  const Graph graph =
      g.finish({g.add("add", {g.add("mul", {x, cosine}), g.add("mul", {turned, sine})})});
  EXPECT_EQ(fused(graph), "slice neg slice concat mul mul add");
}

TEST(Fusion, RowOperatorsFuseMapsOnBothSides) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 8, 8});
  const ValueId mask = g.input("mask", {1, 1, 1, 8});
  const ValueId scaled = g.add("add", {g.add("mul", {x, g.number(0.125)}), mask});
  const ValueId soft = g.add("softmax", {scaled}, {{"axis", int64_t{3}}});
  const Graph graph = g.finish({g.add("mul", {soft, x})});
  EXPECT_EQ(fused(graph), "mul add softmax mul");
}

TEST(Fusion, ReductionsFuseWithMapsOverTheSameRows) {
  TestGraph g;
  const ValueId x = g.input("x", {4, 8, 16});
  const Attributes sum = {{"kind", "sum"}, {"axes", Shape{2}}, {"keep", int64_t{1}}};
  const ValueId norm = g.add("sqrt", {g.add("reduce", {g.add("mul", {x, x})}, sum)});
  const Graph graph = g.finish({g.add("mul", {g.add("div", {x, norm}), g.weights({16})})});
  EXPECT_EQ(fused(graph), "mul reduce sqrt div mul");

  TestGraph h;  // the rows are not the last dimensions
  const ValueId y = h.input("y", {4, 8, 16});
  const Attributes first = {{"kind", "sum"}, {"axes", Shape{0}}, {"keep", int64_t{1}}};
  const Graph other = h.finish({h.add("div", {y, h.add("reduce", {y}, first)})});
  EXPECT_EQ(fused(other), "reduce | div");
}

TEST(Fusion, GroupSizeIsLimited) {
  TestGraph g;
  ValueId x = g.input("x", {4, 8});
  for (int k = 0; k < 60; ++k) x = g.add("relu", {x});
  for (int k = 0; k < 30; ++k) x = g.add("erf", {x});
  const Graph graph = g.finish({x});
  const auto facts = facts_of(graph);
  for (const FusedGroup& group : fuse(graph, *facts, fusion_pays_by_default)) {
    EXPECT_LE(group.nodes.size(), 24U);
    EXPECT_TRUE(graph.node(group.nodes[0]).op == "relu" || group.nodes.size() <= 12);
  }

  TestGraph h;
  ValueId y = h.input("y", {4, 8});
  for (int k = 0; k < 20; ++k) y = h.add("mul", {y, y});
  const Graph squares = h.finish({y});
  const auto more = facts_of(squares);
  EXPECT_EQ(fuse(squares, *more, fusion_pays_by_default).size(), 2U);
}

TEST(Fusion, ViewsStayOutside) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 16});
  const ValueId flat = g.add("reshape", {g.add("relu", {x})}, {{"shape", Shape{8, 16}}});
  const Graph graph = g.finish({g.add("softmax", {flat}, {{"axis", int64_t{1}}})});
  EXPECT_EQ(fused(graph), "relu reshape softmax");  // between two nodes of a group, affine

  TestGraph h;
  const ValueId y = h.input("y", {1, 8, 16});
  const ValueId split = h.add("reshape", {y}, {{"shape", Shape{8, 16}}});
  const Graph other = h.finish({h.add("softmax", {split}, {{"axis", int64_t{1}}})});
  EXPECT_EQ(fused(other), "softmax");

  TestGraph k;  // merged dimensions: the index has quotients
  const ValueId z = k.input("z", {8, 4, 4});
  const ValueId merged = k.add("reshape", {k.add("relu", {z})}, {{"shape", Shape{8, 16}}});
  const Graph third = k.finish({k.add("softmax", {merged}, {{"axis", int64_t{1}}})});
  EXPECT_EQ(fused(third), "relu | softmax");
}

TEST(Fusion, BertLayer) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 32});
  const Graph graph = g.finish({g.bert_layer(x, 4)});
  EXPECT_EQ(fused(graph),
            "contract add | contract add | contract add | contract mul | softmax | contract | "
            "contract add add | layer_norm | contract add gelu | contract add add | layer_norm");
}

TEST(Fusion, EmbeddingsAndTheirNormAreOneKernel) {
  TestGraph g;
  const auto embedding = [&](const std::string& ids, int64_t rows) {
    return g.add("gather", {g.weights({rows, 32}), g.input(ids, {1, 8}, ir::Scalar::I64)});
  };
  const ValueId sum = g.add("add", {embedding("words", 100), embedding("types", 2)});
  const ValueId normed = g.layer_norm(g.add("add", {sum, g.weights({8, 32})}));
  const Graph graph = g.finish({g.linear(normed, 16)});
  EXPECT_EQ(fused(graph), "gather gather add add layer_norm | contract add");

  TestGraph h;  // the sum is also a residual
  const ValueId words =
      h.add("gather", {h.weights({100, 32}), h.input("words", {1, 8}, ir::Scalar::I64)});
  const ValueId x = h.add("add", {words, h.weights({8, 32})});
  const Graph kept = h.finish({h.add("add", {h.linear(h.layer_norm(x), 32), x})});
  EXPECT_EQ(fused(kept), "gather add | layer_norm | contract add add");
}

TEST(Fusion, ConcatOfKernelsIsNotFused) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId joined =
      g.add("concat", {g.conv_relu(x, 16, 1), g.conv_relu(x, 16, 3)}, {{"axis", int64_t{3}}});
  const Graph graph = g.finish({g.add("sigmoid", {joined})});
  EXPECT_EQ(fused(graph), "conv add relu | conv add relu | concat | sigmoid");
}

// For any Graph, groups are disjoint, contain all live nodes but views, can run in their order,
// and only the last value of each leaves it.
void expect_sound(const Graph& graph) {
  const auto facts = facts_of(graph);
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  const std::vector<FusedGroup> groups = fuse(graph, *facts, fusion_pays_by_default);
  std::vector<uint32_t> group_of(graph.nodes().size(), kNone);
  for (uint32_t k = 0; k < groups.size(); ++k) {
    for (const NodeId id : groups[k].nodes) {
      EXPECT_EQ(group_of[id], kNone);
      group_of[id] = k;
    }
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const bool view = (*facts)[id].op->work == Work::View;
    EXPECT_TRUE(!(*facts)[id].live || view || group_of[id] != kNone) << graph.node(id).op;
  }
  const auto source = [&](ValueId value) {  // through views outside of groups
    NodeId id = graph.value(value).producer;
    while (id != kNone && group_of[id] == kNone) {
      id = graph.value(graph.node(id).inputs[0]).producer;
    }
    return id;
  };
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (group_of[id] == kNone) continue;
    for (const ValueId input : graph.node(id).inputs) {
      const NodeId producer = source(input);
      if (producer == kNone || group_of[producer] == group_of[id]) continue;
      EXPECT_LT(group_of[producer], group_of[id]) << graph.to_string();
      EXPECT_EQ(producer, groups[group_of[producer]].nodes.back()) << graph.to_string();
    }
  }
  for (const ValueId output : graph.outputs()) {
    const NodeId producer = source(output);
    if (producer == kNone) continue;
    EXPECT_EQ(producer, groups[group_of[producer]].nodes.back());
  }
}

TEST(Fusion, RandomGraphsAreSound) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    TestGraph g;
    std::vector<ValueId> values = {g.input("x", {1, 4, 4, 8}), g.input("y", {1, 4, 4, 8})};
    const auto any = [&] {  // rather late ones
      const size_t back = std::min<size_t>(values.size(), 6);
      return values[values.size() - 1 - rng.below(back)];
    };
    for (int k = 0; k < 30; ++k) {
      const ValueId a = any(), b = any();
      switch (rng.below(8)) {
        case 0:
          values.push_back(g.conv(a, 8, 1));
          break;
        case 1:
          values.push_back(g.add("softmax", {a}, {{"axis", int64_t{3}}}));
          break;
        case 2:
          values.push_back(g.add("relu", {a}));
          break;
        case 3:
          values.push_back(g.add("transpose", {a}, {{"perm", Shape{0, 2, 1, 3}}}));
          break;
        case 4: {
          const ValueId flat = g.add("reshape", {a}, {{"shape", Shape{16, 8}}});
          values.push_back(g.add("reshape", {flat}, {{"shape", Shape{1, 4, 4, 8}}}));
          break;
        }
        default:
          values.push_back(g.add("add", {a, b}));
      }
    }
    expect_sound(g.finish({values.back(), values[values.size() / 2 + 2]}));
  }
}

}  // namespace
}  // namespace tilewright::graph
