#include "te/dag_json.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "te/ops/table.h"

namespace tilewright::te {
namespace {

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

TEST(DagJson, RejectsMalformedDags) {
  const Json good = dag_to_json(*dag_of("matmul:m=7,n=5,k=3"));
  EXPECT_TRUE(dag_from_json(good).has_value());
  EXPECT_FALSE(dag_from_json(Json::object()).has_value());
  EXPECT_FALSE(dag_from_json(Json::array()).has_value());
  Json bad = good;
  bad[2]["nodes"][0] = Json::array({"var", 99});
  EXPECT_FALSE(dag_from_json(bad).has_value());
  bad = good;
  bad[2]["body"] = Json::array({1000});
  EXPECT_FALSE(dag_from_json(bad).has_value());
  bad = good;
  bad[0]["axes"][0][1] = 0;
  EXPECT_FALSE(dag_from_json(bad).has_value());
  bad = good;
  bad[2].erase("nodes");
  EXPECT_FALSE(dag_from_json(bad).has_value());
}

}  // namespace
}  // namespace tilewright::te
