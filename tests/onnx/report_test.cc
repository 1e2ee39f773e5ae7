#include "tests/onnx/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Report : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"test_add", "test_abs", "test_nonzero"}) {
      NodeCase& one = cases_.cases.emplace_back();
      one.name = name;
      one.operators = {"Add"};
      one.types = {"float"};
    }
    cases_.onnx_version = "1.2.3";
    for (const NodeCase& one : cases_.cases) {
      ran_.push_back({.node_case = &one, .result = {.outcome = Outcome::Passed, .reason = {}}});
    }
  }

  NodeCases cases_;
  std::vector<Ran> ran_;
};

TEST_F(Report, NewFailuresAndMissingTestsAreReported) {
  const std::string stored = passed_list(ran_);
  EXPECT_THAT(regressions(ran_, stored).failing, IsEmpty());
  EXPECT_THAT(regressions(ran_, stored).vanished, IsEmpty());
  ran_[1].result = {.outcome = Outcome::Failed, .reason = "differs"};
  ran_.pop_back();
  const Lost lost = regressions(ran_, stored);
  EXPECT_THAT(lost.failing, ElementsAre("test_abs"));
  EXPECT_THAT(lost.vanished, ElementsAre("test_nonzero"));
}

TEST_F(Report, StalePageIsReported) {
  const std::string stored = document(cases_, ran_);
  EXPECT_EQ(first_difference(document(cases_, ran_), stored), "");
  ran_[1].result = {.outcome = Outcome::Unsupported, .reason = "Abs: why"};
  EXPECT_THAT(first_difference(document(cases_, ran_), stored), HasSubstr("instead of"));
  EXPECT_EQ(first_difference("a\nb\n", "a\nc\n"), "line 2: \"b\" instead of \"c\"");
  EXPECT_EQ(first_difference("a\nb\n", "a\n"), "line 2: \"b\" instead of \"\"");
  EXPECT_EQ(first_difference("a\n", "a"), "line 2: its end");
  EXPECT_THAT(first_difference("a\n", ""), HasSubstr("line 1"));
}

}  // namespace
}  // namespace tilewright::onnx
