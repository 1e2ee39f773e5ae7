#include "app/traces_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace tilewright::app {
namespace {

struct Good {
  std::string text;
  std::vector<size_t> steps;  // of each trace
};
class GoodFiles : public testing::TestWithParam<Good> {};

TEST_P(GoodFiles, ParseToTheirTraces) {
  const auto traces = parse_traces(GetParam().text);
  ASSERT_TRUE(traces.has_value()) << traces.error().message;
  std::vector<size_t> steps;
  for (const schedule::Trace& trace : *traces) steps.push_back(trace.steps.size());
  EXPECT_EQ(steps, GetParam().steps);
}

const std::string kSplitJson = R"([{"step":"split","stage":"C","loop":"i","factors":[4]}])";

INSTANTIATE_TEST_SUITE_P(
    Table, GoodFiles,
    testing::Values(Good{"split C i [4]\n", {1}},                                      //
                    Good{"split C i [4]\n---\nsplit C j [2]\ncache_write C", {1, 2}},  //
                    Good{"---\nsplit C i [4]\n---\n\n---\n", {1}},
                    Good{"# nothing\n---\r\nsplit C i [4]\r\n", {0, 1}},
                    Good{kSplitJson + "\n\n" + kSplitJson, {1, 1}},  //
                    Good{"[]\n[]\n", {0, 0}},                        //
                    Good{"\n[\n" + kSplitJson.substr(1, kSplitJson.size() - 2) + "\n]\n", {1}}));

struct Bad {
  std::string text;
  std::string message;
};
class BadFiles : public testing::TestWithParam<Bad> {};

TEST_P(BadFiles, ErrorsNameTraceAndLine) {
  const auto traces = parse_traces(GetParam().text);
  ASSERT_FALSE(traces.has_value());
  EXPECT_EQ(traces.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(traces.error().message, testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Table, BadFiles,
                         testing::Values(Bad{"", "no trace"},            //
                                         Bad{"\n---\n \n", "no trace"},  //
                                         Bad{"split C i [4]\n---\n\ncut C i", "trace 1: line 4: "},
                                         Bad{"cut C", "trace 0: line 1: "},
                                         Bad{"----\nsplit C i [4]\n", "trace 0: line 1: "},
                                         Bad{"[]\n\n[1]", "trace 1: line 3: element 0"},
                                         Bad{"[]\n{}", "trace 1: line 2: "},  //
                                         Bad{"[]\n[", "trace 1: line 2: "},
                                         Bad{"[\n1\n]", "trace 0: line 1: "}));

TEST(TracesFile, AFileOfOneTraceMayBeBlank) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-traces-").value();
  const std::string path = folder / "one.trace";
  const auto read = [&](std::string_view text) {
    EXPECT_TRUE(write_file_atomically(path, text).has_value());
    return read_trace_file(path);
  };
  EXPECT_EQ(read("split C i [4]\n").value().steps.size(), 1U);
  for (const char* const blank : {"", " \n\t\r\n", "# nothing\n", "[]"}) {
    EXPECT_TRUE(read(blank).value().steps.empty());
  }
  EXPECT_THAT(read("[]\n[]\n").error().message,
              testing::HasSubstr("one.trace: it has 2 traces, and one is needed"));
  EXPECT_FALSE(read("cut C").has_value());
}

TEST(TracesFile, AMissingFileIsNamed) {
  const auto traces = read_traces_file("/nowhere/t.traces");
  ASSERT_FALSE(traces.has_value());
  EXPECT_THAT(traces.error().message, testing::HasSubstr("/nowhere/t.traces"));
}

}  // namespace
}  // namespace tilewright::app
