#include "graph/memory_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "graph/arena_plan.h"
#include "graph/graph_testing.h"
#include "graph/separate_outputs.h"
#include "graph/view.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

// By brute force: no two that are alive at once share a byte.
void expect_apart(std::span<const Lifetime> lifetimes, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 64, 0);
    EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.peak);
    for (size_t b = 0; b < a; ++b) {
      for (size_t step = lifetimes[a].first; step <= lifetimes[a].last; ++step) {
        if (step < lifetimes[b].first || step > lifetimes[b].last) continue;
        const bool apart = plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(apart) << a << " and " << b << " at step " << step;
      }
    }
  }
}

TEST(ArenaPlan, Empty) {
  const ArenaPlan plan = plan_arena({});
  EXPECT_EQ(plan.peak, 0);
  EXPECT_TRUE(plan.offsets.empty());
}

TEST(ArenaPlan, ReusesDeadRanges) {
  const std::vector<Lifetime> lifetimes = {{100, 0, 1}, {64, 1, 2}, {128, 2, 3}, {1, 3, 4}};
  const ArenaPlan plan = plan_arena(lifetimes);
  expect_apart(lifetimes, plan);
  EXPECT_EQ(plan.peak, 192);
  EXPECT_EQ(max_alive(lifetimes), 192);
}

TEST(ArenaPlan, RandomLifetimesDoNotOverlap) {
  double worst = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::vector<Lifetime> lifetimes(static_cast<size_t>(rng.between(1, 60)));
    for (Lifetime& lifetime : lifetimes) {
      lifetime.bytes = rng.between(1, rng.chance(0.5) ? 100 : 20000);
      lifetime.first = rng.below(40);
      lifetime.last = lifetime.first + (rng.chance(0.8) ? rng.below(4) : rng.below(40));
    }
    const ArenaPlan plan = plan_arena(lifetimes);
    expect_apart(lifetimes, plan);
    const int64_t bound = max_alive(lifetimes);
    EXPECT_GE(plan.peak, bound);
    worst = std::max(worst, static_cast<double>(plan.peak) / static_cast<double>(bound));
    EXPECT_EQ(plan_arena(lifetimes).offsets, plan.offsets);
  }
  EXPECT_LE(worst, 1.2);
}

// Runs a plan on a memory with one word per element. Each word records which element of
// which value was written there last.
class FakeRun {
 public:
  using Word = std::tuple<Home, int64_t, int64_t>;  // home, index, offset
  using Stamp = std::pair<ValueId, int64_t>;        // value, element

  FakeRun(const Graph& graph, const Partition& parts, const MemoryPlan& plan)
      : graph_(graph), parts_(parts), plan_(plan) {
    for (const Alias& alias : parts.aliases) alias_of_[alias.value] = alias;
  }

  void run() {
    for (const ValueId input : graph_.inputs()) write(input);
    for (const ValueId constant : plan_.constants) write(constant);
    for (const Group& group : parts_.groups) {
      std::set<Word> read, written;
      for (size_t k = 0; k < group.arguments.size(); ++k) {
        const ValueId value = group.arguments[k];
        if (group.workload.operands[k].role == Role::Output) {
          for (const Word& word : words_of(value)) EXPECT_TRUE(written.insert(word).second);
        } else {
          for (const Word& word : words_of(value)) read.insert(word);
          expect_holds(value, group.title);
        }
      }
      for (const Word& word : written) {
        EXPECT_FALSE(read.contains(word)) << group.title;
        EXPECT_TRUE(std::get<0>(word) == Home::Output ||
                    (std::get<0>(word) == Home::Arena && std::get<2>(word) < plan_.arena_bytes));
      }
      for (size_t k = 0; k < group.arguments.size(); ++k) {
        if (group.workload.operands[k].role == Role::Output) write(group.arguments[k]);
      }
    }
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const ArenaSlot expected{.home = Home::Output, .index = static_cast<int64_t>(k)};
      EXPECT_EQ(plan_.places[graph_.outputs()[k]], expected);
      expect_holds(graph_.outputs()[k], "at the end");
    }
  }

 private:
  std::vector<Word> words_of(ValueId value) const {
    const ArenaSlot& place = plan_.places[value];
    const Shape& shape = graph_.value(value).type.shape;
    const auto alias = alias_of_.find(value);
    const bool apart = alias != alias_of_.end() && !alias->second.within.empty();
    const Shape& within = apart ? alias->second.within : shape;
    std::vector<Word> words;
    Shape indices(shape.size());
    for (int64_t k = 0; k < graph_.value(value).type.elements(); ++k) {
      int64_t offset = 0;
      for (size_t d = 0; d < shape.size(); ++d) offset = offset * within[d] + indices[d];
      words.emplace_back(place.home, place.index, place.offset + 4 * offset);
      for (size_t d = shape.size(); d > 0 && ++indices[d - 1] == shape[d - 1]; --d) {
        indices[d - 1] = 0;
      }
    }
    return words;
  }

  void write(ValueId value) {
    int64_t element = 0;
    for (const Word& word : words_of(value)) memory_[word] = {value, element++};
  }

  // Views and concats in place consist of elements that other kernels wrote.
  std::vector<Stamp> meaning_of(ValueId value) const {
    const NodeId producer = graph_.value(value).producer;
    const bool grouped = std::ranges::any_of(parts_.groups, [&](const Group& group) {
      return std::ranges::find(group.nodes, producer) != group.nodes.end();
    });
    std::vector<Stamp> stamps;
    if (producer == kNone || grouped) {
      for (int64_t k = 0; k < graph_.value(value).type.elements(); ++k)
        stamps.emplace_back(value, k);
      return stamps;
    }
    const Node& node = graph_.node(producer);
    if (const auto offset = view_offset(graph_, node)) {
      const std::vector<Stamp> whole = meaning_of(node.inputs[0]);
      const auto first = whole.begin() + *offset / 4;
      return {first, first + graph_.value(value).type.elements()};
    }
    EXPECT_EQ(node.op, "concat");
    const Shape& shape = graph_.value(value).type.shape;
    const auto axis = static_cast<size_t>(node.attributes.integer("axis"));
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
    for (int64_t row = 0; row < outer; ++row) {
      for (const ValueId part : node.inputs) {
        const std::vector<Stamp> all = meaning_of(part);
        const int64_t run = graph_.value(part).type.shape[axis] * inner;
        stamps.insert(stamps.end(), all.begin() + row * run, all.begin() + (row + 1) * run);
      }
    }
    return stamps;
  }

  void expect_holds(ValueId value, const std::string& where) {
    const std::vector<Stamp> wanted = meaning_of(value);
    const std::vector<Word> words = words_of(value);
    ASSERT_EQ(wanted.size(), words.size());
    for (size_t k = 0; k < words.size(); ++k) {
      ASSERT_EQ(memory_[words[k]], wanted[k]) << graph_.value(value).name << ", " << where;
    }
  }

  const Graph& graph_;
  const Partition& parts_;
  const MemoryPlan& plan_;
  std::map<ValueId, Alias> alias_of_;
  std::map<Word, Stamp> memory_;
};

void expect_right(const Graph& graph, double bound = 1.2) {
  const auto separate = separate_outputs(graph);
  ASSERT_TRUE(separate.has_value()) << separate.error().message;
  const auto parts = partition(*separate, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  const auto plan = plan_memory(*separate, *parts);
  ASSERT_TRUE(plan.has_value());
  FakeRun(*separate, *parts, *plan).run();
  EXPECT_GE(plan->arena_bytes, plan->live_bytes);
  EXPECT_LE(static_cast<double>(plan->arena_bytes), bound * static_cast<double>(plan->live_bytes));
  EXPECT_LE(plan->arena_bytes, plan->sum_bytes + 64 * std::ssize(parts->groups));
}

TEST(MemoryPlan, ResidualNetwork) {
  TestGraph g;
  ValueId x = g.input("x", {1, 4, 4, 8});
  for (int k = 0; k < 4; ++k) x = g.residual_block(x);
  expect_right(g.finish({g.conv(x, 4, 1)}));
}

TEST(MemoryPlan, WithoutReuseValuesDoNotOverlap) {
  TestGraph g;
  ValueId x = g.input("x", {1, 4, 4, 16});
  for (int k = 0; k < 4; ++k) x = g.residual_block(x);
  const Graph graph = g.finish({g.conv(x, 4, 1)});
  const auto parts = partition(graph, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  const auto plan = plan_memory(graph, *parts, {.reuse = false});
  const auto shared = plan_memory(graph, *parts);
  ASSERT_TRUE(plan.has_value() && shared.has_value());
  FakeRun(graph, *parts, *plan).run();
  EXPECT_EQ(plan->arena_bytes, plan->sum_bytes);  // of multiples of 64
  EXPECT_EQ(plan->live_bytes, shared->live_bytes);
  EXPECT_LT(shared->arena_bytes, plan->arena_bytes);
  std::set<int64_t> offsets;
  for (const Group& group : parts->groups) {
    const ArenaSlot& place = plan->places[group.arguments.back()];
    if (place.home != Home::Arena) continue;
    EXPECT_TRUE(offsets.insert(place.offset).second) << group.title;
  }
}

TEST(MemoryPlan, DenseNetwork) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 8});
  expect_right(g.finish({g.conv(g.dense_block(g.conv_relu(x, 16, 3), 4, 4), 4, 1)}));
}

TEST(MemoryPlan, Bert) {
  TestGraph g;
  ValueId x = g.input("x", {1, 8, 32});
  for (int k = 0; k < 2; ++k) x = g.bert_layer(x, 4);
  expect_right(g.finish({x}));
}

TEST(MemoryPlan, OutputsOfAllKinds) {
  TestGraph g;
  const ValueId x = g.input("x", {4, 16});
  const ValueId w = g.weights({4, 16});
  const ValueId y = g.add("relu", {x});
  const ValueId flat = g.add("reshape", {y}, {{"shape", Shape{64}}});
  const ValueId z = g.add("softmax", {y}, {{"axis", int64_t{1}}});
  const ValueId view = g.add("reshape", {z}, {{"shape", Shape{64}}});
  expect_right(g.finish({flat, view, x, w, y, g.add("exp", {z})}));
}

TEST(MemoryPlan, ConcatInPlace) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 3), b = g.conv_relu(a, 16, 1), c = g.conv_relu(b, 16, 3);
  const ValueId ab = g.add("concat", {a, b}, {{"axis", int64_t{1}}});
  const ValueId abc = g.add("concat", {a, b, c}, {{"axis", int64_t{1}}});
  expect_right(g.finish({g.conv_relu(ab, 4, 3), abc}));
  expect_right(g.finish({g.conv_relu(ab, 4, 3), g.conv_relu(abc, 4, 3), b}));
}

TEST(MemoryPlan, RandomGraphs) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    TestGraph g;
    std::vector<ValueId> values = {g.input("x", {1, 4, 4, 8}), g.input("y", {1, 4, 4, 8})};
    const auto any = [&] {
      return values[values.size() - 1 - rng.below(std::min<size_t>(values.size(), 5))];
    };
    for (int k = 0; k < 20; ++k) {
      const ValueId a = any(), b = any();
      switch (rng.below(6)) {
        case 0:
          values.push_back(g.conv(a, 8, 1));
          break;
        case 1:
          values.push_back(g.add("softmax", {a}, {{"axis", int64_t{3}}}));
          break;
        case 2: {
          const auto axis = static_cast<int64_t>(1 + rng.below(3));
          const ValueId both = g.add("concat", {a, b}, {{"axis", axis}});
          values.push_back(g.add("slice", {g.conv_relu(both, 8, 3)},
                                 {{"begin", Shape{0, 0, 0, 0}},
                                  {"size", Shape{1, 4, 4, 8}},
                                  {"step", Shape{1, 1, 1, 1}}}));
          break;
        }
        case 3: {
          const ValueId flat = g.add("reshape", {a}, {{"shape", Shape{128}}});
          values.push_back(g.add("reshape", {flat}, {{"shape", Shape{1, 4, 4, 8}}}));
          break;
        }
        case 4: {  // rows, each by a kernel; b has other readers
          std::vector<ValueId> parts;
          for (int64_t row = 0; row < 4; row += 2) {
            const ValueId rows =
                g.add("slice", {rng.chance(0.5) ? a : b},
                      {{"begin", Shape{0, row, 0, 0}}, {"size", Shape{1, 2, 4, 8}}});
            parts.push_back(g.conv(rows, 8, 1));
          }
          values.push_back(g.add("concat", parts, {{"axis", int64_t{1}}}));
          if (rng.chance(0.5)) values.push_back(g.add("relu", {values.back()}));
          break;
        }
        default:
          values.push_back(g.add("add", {a, b}));
      }
    }
    expect_right(g.finish({values.back(), any(), any()}));
  }
}

}  // namespace
}  // namespace tilewright::graph
