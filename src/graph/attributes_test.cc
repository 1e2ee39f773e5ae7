#include "graph/attributes.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace tilewright::graph {
namespace {

TEST(Attributes, AreFoundByNameAndKind) {
  Attributes attributes = {{"axis", int64_t{1}},
                           {"alpha", 0.5},
                           {"mode", std::string("edge")},
                           {"perm", std::vector<int64_t>{0, 2, 1}}};
  EXPECT_EQ(attributes.integer("axis"), 1);
  EXPECT_EQ(attributes.integer("other", 7), 7);
  EXPECT_EQ(attributes.number("alpha", 0), 0.5);
  EXPECT_EQ(attributes.number("axis", 0), 1);  // an integer is a number
  EXPECT_EQ(attributes.text("mode"), "edge");
  EXPECT_EQ(attributes.text("none", "constant"), "constant");
  EXPECT_EQ(attributes.list("perm").size(), 3U);
  EXPECT_THROW(attributes.integer("missing"), InternalError);
  EXPECT_THROW(attributes.integer("mode", 0), InternalError);
  attributes.erase("mode");
  EXPECT_FALSE(attributes.has("mode"));
}

TEST(Attributes, PrintInTheOrderOfTheirNames) {
  const Attributes one = {{"perm", std::vector<int64_t>{0, 2, 1}}, {"axis", int64_t{1}}};
  Attributes other;
  other.set("axis", int64_t{1});
  other.set("perm", std::vector<int64_t>{0, 2, 1});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.to_string(), "axis=1, perm=[0,2,1]");
  other.set("axis", int64_t{2});
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace tilewright::graph
