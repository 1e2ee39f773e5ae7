#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "cli/run_testing.h"
#include "record/record_testing.h"

namespace tilewright::cli {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Outcome records(const std::vector<std::string>& arguments) {
  return tilewright("records", arguments);
}

std::vector<Json> objects(const std::string& text) {
  std::vector<Json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(must(parse_json(line)));
  return objects;
}

class Records : public ::testing::Test {
 protected:
  Records() : path_(folder_ / "a.db"), task_(task_for("matmul:m=16,n=16,k=16")) {
    record::Store store = store_with(path_, task_);
    for (int k = 0; k < 20; ++k) attempts_.push_back(timed(task_, k, 2000 - k));
    attempts_[3].verdict = {.kind = record::VerdictKind::Crash,
                            .latency_ns = 0,
                            .samples_ns = {},
                            .text = "signal 11\nin check"};
    must(store.append(attempts_));
  }

  ScratchFolder folder_;
  std::string path_;
  Task task_;
  std::vector<record::Attempt> attempts_;
};

// They are named where the built-in one has none, and never ranked together with it.
TEST_F(Records, OtherBackEndsAreApart) {
  const std::string path = folder_ / "c.db";
  record::Store store = store_with(path, task_);
  const auto put = [&](int64_t sequence, double latency_ns, const std::string& back_end) {
    record::Attempt attempt = timed(task_, sequence, latency_ns);
    attempt.protocol.back_end = back_end;
    must(store.append({&attempt, 1}));
  };
  put(1, 200, "c");
  EXPECT_THAT(records({"ls", "--records", path}).out, HasSubstr("back_end=c"));
  EXPECT_THAT(records({"best", task_.workload.text, "--records", path}).out,
              HasSubstr("v1;warm;back_end=c"));
  put(2, 4000, "");
  const Outcome list = records({"ls", "--records", path});
  EXPECT_THAT(list.out, HasSubstr("4 us"));
  EXPECT_THAT(list.out, Not(HasSubstr("back_end")));
  const Outcome best = records({"best", task_.workload.text, "--count", "9", "--records", path});
  EXPECT_THAT(best.out, HasSubstr("4 us"));
  EXPECT_THAT(best.out, Not(HasSubstr("back_end")));
  EXPECT_THAT(
      records({"best", task_.workload.text, "--protocol", "v1;warm;back_end=c", "--records", path})
          .out,
      HasSubstr("v1;warm;back_end=c"));
}

TEST_F(Records, ListsTasks) {
  const Outcome text = records({"ls", "--records", path_});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("matmul:m=16,n=16,k=16"));
  EXPECT_THAT(text.out, HasSubstr("1.981 us"));
  const Outcome json = records({"ls", "--json", "--records", path_});
  ASSERT_EQ(objects(json.out).size(), 1u);
  const Json task = objects(json.out)[0];
  EXPECT_EQ(task.at("task"), task_.key().hex());
  EXPECT_EQ(task.at("attempts"), Json({{"timed", 19}, {"crash", 1}}));
  EXPECT_EQ(task.at("best_ns"), 1981);
  EXPECT_NEAR(task.at("gflops").get<double>(), 2 * 16 * 16 * 16 / 1981., 1e-9);
}

TEST_F(Records, ListsAttempts) {
  const std::string key = task_.key().hex();
  for (const std::string& what : {std::string("matmul:m=16,n=16,k=16"), key, key.substr(0, 6)}) {
    EXPECT_EQ(objects(records({"ls", what, "--json", "--records", path_}).out).size(), 20u);
  }
  const Outcome crashed =
      records({"ls", "matmul:m=16,n=16,k=16", "--verdict", "crash", "--records", path_});
  EXPECT_THAT(crashed.out, HasSubstr("signal 11..."));
  EXPECT_THAT(crashed.out, Not(HasSubstr("timed")));
  EXPECT_EQ(objects(records({"ls", key, "--count", "3", "--json", "--records", path_}).out).size(),
            3u);
}

TEST_F(Records, ShowsOne) {
  const std::string id = attempts_[3].id().hex();
  const Outcome text = records({"show", id.substr(0, 10), "--records", path_});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("crash"));
  EXPECT_THAT(text.out, HasSubstr("split C i [4, 8]"));
  const Json json = objects(records({"show", id, "--json", "--records", path_}).out)[0];
  EXPECT_EQ(json.at("id"), id);
  EXPECT_EQ(json.at("text"), "signal 11\nin check");
  EXPECT_EQ(objects(records({"show", task_.key().hex(), "--json", "--records", path_}).out).size(),
            20u);
}

TEST_F(Records, BestIsAFileOfTraces) {
  const Outcome text =
      records({"best", "matmul:m=16,n=16,k=16", "--count", "2", "--records", path_});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, StartsWith("# matmul"));
  EXPECT_THAT(text.out, HasSubstr("# measured on another machine: one\n" + attempts_[19].trace +
                                  "---\n# matmul"));
  const Outcome cold = records(
      {"best", "matmul:m=16,n=16,k=16", "--protocol", "v1;cold", "--json", "--records", path_});
  EXPECT_EQ(objects(cold.out)[0].at("latency_ns"), 1981);
  EXPECT_EQ(objects(cold.out)[0].at("remarks")[0], "measured by another protocol: v1;warm");
}

TEST_F(Records, ExportImportMergeCheck) {
  const std::string lines = folder_ / "lines";
  EXPECT_EQ(records({"export", lines, "--records", path_}).code, 0);
  const Outcome out = records({"export", "--records", path_});
  EXPECT_EQ(must(read_file(lines)), out.out);
  const std::string other = folder_ / "b.db";
  std::ofstream(lines, std::ios::app) << "nonsense\n{\"type\":\"dream\"}\n";
  const Outcome imported = records({"import", lines, "--records", other});
  EXPECT_EQ(imported.code, 0);
  EXPECT_THAT(imported.out, HasSubstr("20 new attempts"));
  EXPECT_THAT(imported.out, HasSubstr("1 line malformed and skipped"));
  EXPECT_THAT(imported.out, HasSubstr("line 25: not a complete JSON object"));
  const Json merged = objects(records({"merge", path_, "--json", "--records", other}).out)[0];
  EXPECT_EQ(merged.at("known"), merged.at("lines"));
  const Outcome checked = records({"check", "--records", other});
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, HasSubstr("intact: 1 task, 20 candidates"));
}

TEST_F(Records, ATruncatedStoreIsExportedAsFarAsItCanBeRead) {
  {
    record::Store store = must(record::Store::open(path_));
    std::vector<record::Attempt> more;
    for (int k = 100; k < 1000; ++k) more.push_back(timed(task_, k, 2000));
    must(store.append(more));
  }
  const std::string cut = folder_ / "cut.db";
  const std::string whole = must(read_file(path_));
  must(write_file_atomically(cut, std::string_view(whole).substr(0, whole.size() * 96 / 100)));
  const Outcome listed = records({"ls", "--records", cut});
  EXPECT_EQ(listed.code, 2);
  EXPECT_THAT(listed.err, HasSubstr("`tilewright records export` writes the records that can be"));

  const std::string file = folder_ / "saved.ndjson";
  const Outcome to_file = records({"export", file, "--records", cut});
  EXPECT_EQ(to_file.code, 2);
  const std::vector<Json> lines = objects(must(read_file(file)));
  EXPECT_GT(lines.size(), 500U);
  EXPECT_LT(lines.size(), 900U);
  EXPECT_THAT(to_file.err, HasSubstr("cut.db is damaged: it has "));
  EXPECT_THAT(to_file.err,
              HasSubstr(fmt::format("the {} lines that can be read are written", lines.size())));
  const Outcome to_output = records({"export", "--records", cut});
  EXPECT_EQ(to_output.code, 2);
  EXPECT_EQ(to_output.out, must(read_file(file)));

  const Outcome checked = records({"check", "--records", cut});
  EXPECT_EQ(checked.code, 2);
  EXPECT_THAT(checked.out, HasSubstr("problem: file: it has "));
  EXPECT_THAT(checked.out, HasSubstr("`tilewright records export FILE` writes"));
  EXPECT_THAT(checked.out, Not(HasSubstr(" 0 attempts")));
  EXPECT_EQ(must(read_file(cut)), whole.substr(0, whole.size() * 96 / 100));

  const std::string again = folder_ / "again.db";
  EXPECT_EQ(records({"import", file, "--records", again}).code, 0);
  EXPECT_EQ(records({"check", "--records", again}).code, 0);

  must(write_file_atomically(cut, std::string_view(whole).substr(0, 1000)));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"export", "--records", cut}, {"check", "--records", cut}}) {
    const Outcome none = records(words);
    EXPECT_EQ(none.code, 2);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("none of its records can be read"));
    EXPECT_THAT(none.err, Not(HasSubstr("tilewright records")));
  }
}

TEST_F(Records, LogsOfAnsorBecomeTraces) {
  const std::string log = folder_ / "log";
  std::ofstream(log) << R"({"i": [["key", "llvm"], [[], [["SP", 2, 0, 16, [4], 1]]]], )"
                     << R"("r": [[0.5], 0, 1, 2], "v": "v0.6"})"
                     << "\n";
  const std::string traces = folder_ / "traces";
  const Outcome outcome = records({"import", log, "--ansor", "matmul:m=16,n=16,k=16", "-o", traces,
                                   "--threads", "1", "--records", path_});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("1 record: 1 trace"));
  EXPECT_EQ(must(read_file(traces)), "# Ansor: 0.5 s, key\nsplit C i [4]\n");
  const Outcome wrong = records(
      {"import", log, "--ansor", "matmul:m=8,n=8,k=8", "--threads", "1", "--records", path_});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.out, HasSubstr("has 8 iterations, in the log 16"));
}

TEST_F(Records, FlagsComeFromTheEnvironmentToo) {
  ::setenv("TILEWRIGHT_RECORDS", path_.c_str(), 1);
  ::setenv("TILEWRIGHT_JSON", "true", 1);
  const Outcome outcome = records({"ls"});
  ::unsetenv("TILEWRIGHT_RECORDS");
  ::unsetenv("TILEWRIGHT_JSON");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(objects(outcome.out).size(), 1u);
}

TEST_F(Records, MistakesAreReported) {
  const std::string none = folder_ / "none.db";
  const std::string text = folder_ / "text";
  std::ofstream(text) << "no records\n";
  const std::string empty = folder_ / "empty.db";
  must(record::Store::open(empty));
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "A subcommand is required"},
      {{"fly"}, "there is no 'records fly'; its parts are ls, show"},
      {{"ls", "--wings"}, "--wings"},
      {{"ls", "--records", none}, "none.db: there are no records: no such file"},
      {{"ls", "--records", text}, "not a store of records"},
      {{"ls", "--count", "3", "--records", path_}, "are for the attempts of a task"},
      {{"ls", "GMM0", "--records", path_}, "there are no records of GMM0"},
      {{"ls", "zzz", "--records", path_}, "no task's key begins with 'zzz'"},
      {{"ls", "matmul:m=16,n=16,k=16", "--verdict", "x", "--records", path_}, "no verdict 'x'"},
      {{"show", "--records", path_}, "ID is required"},
      {{"show", "zz", "--records", path_}, "no attempt's id and no task's key begins with 'zz'"},
      {{"show", "", "--records", path_}, "begins with ''"},
      {{"show", "00", "--records", empty}, "begins with '00'"},
      {{"best", "GMM0", "--records", empty}, "there are no records of GMM0"},
      {{"best", "GMM0", "--protocol", "x", "--records", path_}, "'x' is not a protocol"},
      {{"best", "GMM0", "--count", "0", "--records", path_}, "--count"},
      {{"export", "--records", none}, "no such file"},
      {{"export", folder_ / "no/such", "--records", path_}, "cannot write"},
      {{"import", none, "--records", path_}, "none.db: there is no such file"},
      {{"import", folder_.path(), "--records", path_}, "a directory"},
      {{"import", text, "--output", "x", "--records", path_}, "--output is for"},
      {{"import", text, "--ansor", "GMM", "--records", path_}, "GMM"},
      {{"merge", none, "--records", path_}, "no such file"},
      {{"merge", path_, "--records", folder_ / "no/such.db"}, "there is no folder"},
      {{"check", "--records", none}, "no such file"},
  };
  for (const auto& [arguments, says] : cases) {
    const Outcome outcome = records(arguments);
    EXPECT_EQ(outcome.code, 2) << says;
    EXPECT_EQ(outcome.out, "") << says;
    EXPECT_THAT(outcome.err, HasSubstr(says));
  }
  EXPECT_FALSE(std::filesystem::exists(none));
  // All ids with the same prefix are listed.
  std::map<char, std::vector<std::string>> ids;
  for (const record::Attempt& attempt : attempts_) {
    ids[attempt.id().hex()[0]].push_back(attempt.id().hex());
  }
  for (const auto& [digit, list] : ids) {
    if (list.size() < 2) continue;
    const Outcome outcome = records({"show", std::string(1, digit), "--records", path_});
    EXPECT_EQ(outcome.code, 2);
    for (const std::string& id : list) EXPECT_THAT(outcome.err, HasSubstr("attempt " + id));
  }
  EXPECT_EQ(records({"import", text, "--records", path_}).code, 2);  // nothing in it is a line
}

// The store is made when there is something for it.
TEST_F(Records, UnreadableImportCreatesNoStore) {
  const std::string text = folder_ / "text";
  const std::string made = folder_ / "made.db";
  std::ofstream(text) << "no records\n";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--ansor", "matmul:m=16,n=16,k=16", "--threads", "1"}}) {
    std::vector<std::string> words = {"import", text, "--records", made};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(records(words).code, 2);
    EXPECT_FALSE(std::filesystem::exists(made)) << words.size();
  }
  std::ofstream{text};  // an empty file
  EXPECT_EQ(records({"import", text, "--records", made}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(made));
}

}  // namespace
}  // namespace tilewright::cli
