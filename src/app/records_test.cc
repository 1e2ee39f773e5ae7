#include "app/records.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "record/print_line.h"
#include "record/record_testing.h"

namespace tilewright::app {
namespace {

namespace testing = record::testing;

Json line_of(const record::Attempt& attempt) {
  std::string line;
  record::print_attempt(attempt, &line);
  Json json = parse_json(line).value();
  json.erase("type");
  json.erase("v");
  return json;
}

TEST(AttemptJson, HasTheMembersOfAnExportedLine) {
  const Task task = testing::task_for("matmul:m=8,n=8,k=8");
  record::Attempt attempt = testing::timed(task, 3);
  EXPECT_EQ(attempt_json(attempt), line_of(attempt));
  attempt.verdict = {.kind = record::VerdictKind::Crash,
                     .latency_ns = 0,
                     .samples_ns = {},
                     .text = "died: \xff\x01"};
  attempt.extra = R"({"later":[1,2],"more":"x"})";
  const Json json = attempt_json(attempt);
  EXPECT_EQ(json, line_of(attempt));
  EXPECT_EQ(json.at("text").at("hex"), "646965643a20ff01");
  EXPECT_EQ(json.at("later").size(), 2U);
}

// Unknown members are no JSON in a damaged store.
TEST(AttemptJson, DamagedMembersAreShownAsText) {
  record::Attempt attempt = testing::timed(testing::task_for("matmul:m=8,n=8,k=8"), 3);
  attempt.extra = "{cut";
  const Json json = attempt_json(attempt);
  EXPECT_EQ(json.at("extra"), "{cut");
  EXPECT_EQ(json.at("id"), attempt.id().hex());
  EXPECT_EQ(json.at("trace"), attempt.trace);
}

}  // namespace
}  // namespace tilewright::app
