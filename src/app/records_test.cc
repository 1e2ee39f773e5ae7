#include "app/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "app/explain.h"
#include "app/measure.h"
#include "app/record_files.h"
#include "app/replay.h"
#include "app/tune.h"
#include "base/json.h"
#include "base/must_testing.h"
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

// Jobs that need a store refuse `none`, which others take for no store, and an empty name.
TEST(NoStore, IsRefusedByEveryJobThatNeedsOne) {
  const auto errors = [](const std::string& records) {
    std::vector<Error> errors;
    const auto add = [&](const auto& result) {
      ASSERT_FALSE(result.has_value());
      errors.push_back(result.error());
    };
    const std::string what = "matmul:m=8,n=8,k=8";
    std::ostringstream out;
    TuneListener tuning;
    MeasureListener measuring;
    AttemptListener listing;
    ImportListener importing;
    add(tune({.what = {what}, .records = records}, tuning, {}));
    add(measure({.what = what, .random = 1, .records = records}, measuring, {}));
    add(replay({.id = "12", .records = records}, {}));
    add(explain({.what = "12", .records = records}));
    add(list_tasks(records));
    add(list_attempts({.records = records, .what = what}, listing));
    add(find_named(records, "12"));
    add(best_records({.records = records, .what = what}));
    add(import_records({.records = records, .files = {}}, importing, {}));
    add(import_records({.records = records, .files = {}, .ansor = what}, importing, {}));
    add(export_records(records, out, {}));
    add(merge_records(records, {}, importing, {}));
    add(check_records(records, 1, {}));
    return errors;
  };
  for (const Error& error : errors(kNoRecords)) {
    EXPECT_EQ(error.kind, ErrorKind::BadInput);
    EXPECT_THAT(error.message, ::testing::HasSubstr("or ./none for a file of that name"));
    EXPECT_EQ(error.options.at(0).option, "records");
  }
  for (const Error& error : errors("")) {
    EXPECT_EQ(error.message, "the name of the store of records is empty");
  }
  EXPECT_FALSE(std::filesystem::exists(kNoRecords));
  EXPECT_FALSE(open_records("").has_value());
  EXPECT_FALSE(must(open_records(kNoRecords)).has_value());
}

}  // namespace
}  // namespace tilewright::app
