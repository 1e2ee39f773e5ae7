#include "te/dag_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "te/ops/table.h"

namespace tilewright::te {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const Dag> dag_of(std::string_view text) {
  auto instance = parse_operator(text);
  EXPECT_TRUE(instance.has_value()) << text;
  return instance->dag;
}

TEST(DagJson, KeepsReductionsHintsAndDiscardedTensors) {
  for (const char* text :
       {"matmul:m=7,n=5,k=3", "softmax:m=4,n=6", "conv2d:n=1,h=6,w=6,ci=2,co=2,kernel=3",
        "conv2d_winograd:h=8,w=8,ci=4,co=4", "reduce:op=argmax,shape=3x5,axes=1"}) {
    const auto instance = parse_operator(text);
    ASSERT_TRUE(instance.has_value()) << text << ": " << instance.error().message;
    const Json json = dag_to_json(*instance->dag);
    const auto back = dag_from_json(json);
    ASSERT_TRUE(back.has_value()) << text << ": " << back.error().message;
    EXPECT_EQ((*back)->to_string(), instance->dag->to_string());
    EXPECT_EQ((*back)->outputs(), instance->dag->outputs());
    for (OpId k = 0; k < instance->dag->ops().size(); ++k) {
      const Op &a = instance->dag->op(k), &b = (*back)->op(k);
      ASSERT_EQ(a.axes.size(), b.axes.size());
      for (size_t d = 0; d < a.axes.size(); ++d) EXPECT_EQ(a.axes[d].hints, b.axes[d].hints);
    }
  }
}

// A change of a legal Dag and a part of its error.
struct Mistake {
  const char* error;
  void (*make)(Json& dag);
};

TEST(DagJson, AnErrorSaysWhatIsWrongAndWhere) {
  const Json good = dag_to_json(*dag_of("matmul:m=7,n=5,k=3"));
  ASSERT_TRUE(dag_from_json(good).has_value());
  const Mistake mistakes[] = {
      {"not a Dag: {} is not a list of operators", [](Json& dag) { dag = Json::object(); }},
      {"not a Dag: it computes nothing", [](Json& dag) { dag = Json::array(); }},
      {"ops[0]: no member 'name': an operator has 'name', 'axes'",
       [](Json& dag) { dag[0] = Json::object(); }},
      {"ops[0]: the name of an operator is 3, not a text", [](Json& dag) { dag[0]["name"] = 3; }},
      {"ops[1]: two operators are called A", [](Json& dag) { dag[1]["name"] = "A"; }},
      {"ops[0]: 'f31' is not a type; types are bool, i8",
       [](Json& dag) { dag[0]["placeholder"] = "f31"; }},
      {"ops[0]: the extent of axis d0 is 0, not an integer of at least 1",
       [](Json& dag) { dag[0]["axes"][0][1] = 0; }},
      {"ops[0]: axis \"i\" is not of the form [name, extent]",
       [](Json& dag) { dag[0]["axes"][0] = "i"; }},
      {"ops[2]: 'a b' is not a name for an axis", [](Json& dag) { dag[2]["axes"][0][0] = "a b"; }},
      {"ops[2]: hints of an axis is 8, not an integer in [0, 7]",
       [](Json& dag) { dag[2]["axes"][0].push_back(8); }},
      {"ops[2]: C: two axes are called j", [](Json& dag) { dag[2]["axes"][0][0] = "j"; }},
      {"ops[2]: no member 'nodes'", [](Json& dag) { dag[2].erase("nodes"); }},
      {"ops[2]: 'body' is 7, not a list", [](Json& dag) { dag[2]["body"] = 7; }},
      {"ops[2]: nodes[0] = [\"var\",99]: the number of a variable is 99, not an integer in [0, 4]",
       [](Json& dag) { dag[2]["nodes"][0] = {"var", 99}; }},
      {"ops[2]: nodes[0] = [\"sum\",0]: 'sum' is not the name of a node: var, cast",
       [](Json& dag) { dag[2]["nodes"][0] = {"sum", 0}; }},
      {"nodes[0] = [\"u8\",256]: 256 is out of the range of u8",
       [](Json& dag) { dag[2]["nodes"][0] = {"u8", 256}; }},
      {"nodes[0] = [\"f32\",\"x\"]: 'x' is not a number",
       [](Json& dag) { dag[2]["nodes"][0] = {"f32", "x"}; }},
      {"nodes[0] = [\"cast\",\"f32\",0]: the number of a node 0: there is none yet",
       [](Json& dag) { dag[2]["nodes"][0] = {"cast", "f32", 0}; }},
      {"index is not I64", [](Json& dag) { dag[2]["nodes"][0] = {"f32", "1"}; }},
      {"ops[2]: the number of a node is 1000, not an integer in",
       [](Json& dag) { dag[2]["body"] = {1000}; }},
      {"ops[2]: no member 'identity': a reduction has",
       [](Json& dag) { dag[2]["reduction"].erase("identity"); }},
      {"ops[2]: a reduction of 1 values has 1 names",
       [](Json& dag) { dag[2]["reduction"]["names"] = {"l"}; }},
      {"ops[2]: the only tensor of an operator cannot be discarded",
       [](Json& dag) { dag[2]["discarded"] = {0}; }},
      {"ops[2]: 'flop' is negative", [](Json& dag) { dag[2]["flop"] = -1; }},
  };
  for (const Mistake& mistake : mistakes) {
    Json bad = good;
    mistake.make(bad);
    const auto dag = dag_from_json(bad);
    ASSERT_FALSE(dag.has_value()) << mistake.error;
    EXPECT_THAT(dag.error().message, HasSubstr(mistake.error));
  }
}

// Calls `visit` with each value inside `json`, from the outside in. It may change the value.
void for_each_value(Json& json, const std::function<void(Json&)>& visit) {
  for (Json& inner : json) {
    visit(inner);
    if (inner.is_structured()) for_each_value(inner, visit);
  }
}

// Replaces and removes every value of the JSON form in turn. Each result is read or refused as the
// user's mistake: a failed CHECK and an exception of the JSON library would end the test.
TEST(DagJson, EveryChangedValueIsReadOrRefused) {
  const Json replacements[] = {nullptr,
                               true,
                               -1,
                               0,
                               1,
                               7,
                               UINT64_MAX,
                               1.5,
                               "",
                               "x",
                               "f16",
                               "bool",
                               "min",
                               "pow",
                               "bitcast",
                               Json::array(),
                               {0},
                               {"var", 0},
                               {"exp"},
                               {"neg", "f32", 1},
                               {"load", 0},
                               {"i8", 1},
                               {"f16", "1"},
                               {1, 2},
                               Json::object()};
  for (const char* text :
       {"matmul:m=7,n=5,k=3", "softmax:m=4,n=6", "reduce:op=argmax,shape=3x5,axes=1",
        "conv2d:h=6,w=6,ci=2,co=2,kernel=3,pad=1"}) {
    Json json = dag_to_json(*dag_of(text));
    json.back()["flop"] = 1;
    const auto is_reported = [&] {
      const auto dag = dag_from_json(json);
      if (dag.has_value()) return;
      EXPECT_TRUE(dag.error().message.starts_with("not a Dag: ")) << dag.error().message;
      EXPECT_THAT(dag.error().message, Not(HasSubstr("CHECK")));
      EXPECT_THAT(dag.error().message, Not(HasSubstr("json.exception")));
    };
    for_each_value(json, [&](Json& value) {
      const Json kept = value;
      for (const Json& replacement : replacements) {
        value = replacement;
        is_reported();
      }
      for (size_t k = 0; kept.is_array() && k < kept.size(); ++k) {
        value = kept;
        value.erase(k);
        is_reported();
      }
      std::vector<std::string> keys;
      if (kept.is_object()) {
        for (const auto& item : kept.items()) keys.push_back(item.key());
      }
      for (const std::string& key : keys) {
        value = kept;
        value.erase(key);
        is_reported();
      }
      value = kept;
    });
  }
}

}  // namespace
}  // namespace tilewright::te
