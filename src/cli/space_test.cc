#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "cli/run_testing.h"
#include "cli/space_report.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;

TEST(Space, PrintsSketchesWithTheirHoles) {
  const Outcome outcome =
      tilewright("space", {"matmul:m=64,n=64,k=64", "--target", "x86-64-v4;threads=2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("sketch 0: "));
  EXPECT_THAT(outcome.out, HasSubstr("?0"));
  EXPECT_THAT(outcome.out, HasSubstr("tile"));
  EXPECT_THAT(outcome.out, HasSubstr(" sketches, "));
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(parse_json(line).value());
  return lines;
}

TEST(Space, JsonCountsAddUp) {
  const Outcome outcome =
      tilewright("space", {"C2D2", "--json", "--target", "x86-64-v4;threads=2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<Json> lines = lines_of(outcome.out);
  ASSERT_GE(lines.size(), 2u);
  double total = 0;
  for (size_t k = 0; k + 1 < lines.size(); ++k) {
    EXPECT_EQ(lines[k].at("sketch"), k);
    double size = 1;
    for (const Json& hole : lines[k].at("holes")) {
      size *= hole.at("choices").get<double>();
      EXPECT_FALSE(hole.at("some").empty());
      for (const Json& step : hole.at("steps")) {
        EXPECT_LT(step.get<size_t>(), lines[k].at("steps").size());
      }
    }
    EXPECT_DOUBLE_EQ(lines[k].at("size").get<double>(), size);
    total += size;
  }
  EXPECT_EQ(lines.back().at("sketches"), lines.size() - 1);
  EXPECT_DOUBLE_EQ(lines.back().at("size").get<double>(), total);
}

TEST(Space, PrintsAllChoicesOnRequest) {
  const Outcome outcome =
      tilewright("space", {"GMM0", "--all", "--json", "--target", "x86-64-v4;threads=2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<Json> lines = lines_of(outcome.out);
  bool many = false;
  for (const Json& hole : lines[0].at("holes")) {
    EXPECT_EQ(hole.at("some").size(), hole.at("choices").get<size_t>());
    many |= hole.at("some").size() > 4;
  }
  EXPECT_TRUE(many);
  const Outcome text = tilewright("space", {"GMM0", "--all", "--target", "x86-64-v4;threads=2"});
  EXPECT_THAT(text.out, testing::Not(HasSubstr(" ... ")));
}

TEST(Space, ListsRulesAndExtensionsThatCanBeTurnedOff) {
  const Outcome list = tilewright("space", {"--list", "--json", "--threads", "2"});
  ASSERT_EQ(list.code, 0) << list.err;
  const Json json = parse_json(list.out).value();
  ASSERT_FALSE(json.at("rules").empty());
  ASSERT_FALSE(json.at("extensions").empty());
  std::string names;
  for (const Json& extension : json.at("extensions")) {
    names += (names.empty() ? "" : ",") + extension.at("name").get<std::string>();
  }
  const auto size_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"GMM0", "--json", "--target", "x86-64-v4;threads=2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = tilewright("space", arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return lines_of(outcome.out).back().at("size").get<double>();
  };
  EXPECT_LT(size_of({"--off", names}), size_of({}));
}

TEST(Space, MistakesAreUsageErrors) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{}, "name an operator"},
      {{"GMM"}, "GMM"},
      {{"GMM0", "--off", "wings"}, "wings"},
      {{"GMM0", "--off", "tails,wings"}, "wings"},
      {{"C2D2", "--off", "skip"}, "without skip"},
      {{"GMM0", "--target", "z80"}, "z80"},
      {{"GMM0", "--threads", "0"}, "--threads"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const Outcome outcome = tilewright("space", arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(SpaceReport, Counts) {
  EXPECT_EQ(count_text(1), "1");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(4096), "4,096");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(3.14e12), "3.1e+12");
}

}  // namespace
}  // namespace tilewright::cli
