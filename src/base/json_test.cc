#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
  const Result<Json> json = parse_json(R"({"z": 1, "a": [true, null, 2.5], "m": "x"})");
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(print_json(*json), R"({"z":1,"a":[true,null,2.5],"m":"x"})");
}

struct BadText {
  std::string text;
  std::string message;  // a part of it
};

class JsonErrors : public testing::TestWithParam<BadText> {};

TEST_P(JsonErrors, AreResults) {
  const Result<Json> json = parse_json(GetParam().text);
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(json.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(json.error().message, testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonErrors,
    testing::Values(BadText{"", "malformed at line 1, column 1"},
                    BadText{"{\"a\": 1,\n  oops}", "malformed at line 2, column 3"},
                    BadText{"[1] 2", "malformed at line 1, column 5"},
                    BadText{"\"\xff\"", "malformed"}, BadText{"[1e999]", "cannot be read"},
                    BadText{std::string(100000, '['), "nested more than 512"}));

TEST(Json, BracketsInStringsDoNotNest) {
  EXPECT_TRUE(parse_json("[\"\\\"" + std::string(10000, '[') + "\"]").has_value());
}

TEST(Json, InvalidUtf8IsReplacedOnOutput) {
  EXPECT_EQ(print_json(Json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(Json, MembersAreTyped) {
  const Json json = {{"yes", true}, {"n", -3}, {"x", 1.5}, {"s", "t"}, {"big", UINT64_MAX}};
  EXPECT_EQ(member<bool>(json, "yes"), true);
  EXPECT_EQ(member<int64_t>(json, "n"), -3);
  EXPECT_EQ(member<double>(json, "n"), -3.0);
  EXPECT_EQ(member<double>(json, "x"), 1.5);
  EXPECT_EQ(member<std::string>(json, "s"), "t");

  EXPECT_EQ(member<bool>(json, "n").error().message,
            "JSON member 'n' is a number, not true or false");
  EXPECT_EQ(member<int64_t>(json, "x").error().message,
            "JSON member 'x' is a number, not a 64-bit integer");
  EXPECT_FALSE(member<int64_t>(json, "big").has_value());
  EXPECT_FALSE(member<std::string>(json, "yes").has_value());
  EXPECT_EQ(member<bool>(json, "no").error().message, "JSON object has no member 'no'");
  EXPECT_EQ(member<bool>(Json(3), "no").error().message,
            "JSON number where an object with member 'no' belongs");
}

TEST(Json, FindMemberOfANonObjectIsNull) {
  const Json json = {{"a", 1}};
  ASSERT_NE(find_member(json, "a"), nullptr);
  EXPECT_EQ(*find_member(json, "a"), 1);
  EXPECT_EQ(find_member(json, "b"), nullptr);
  EXPECT_EQ(find_member(Json(1), "a"), nullptr);
}

}  // namespace
}  // namespace tilewright
