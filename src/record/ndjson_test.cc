#include "record/ndjson.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "record/print_line.h"
#include "record/record_testing.h"
#include "schedule/trace.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::HasSubstr;

std::string export_text(Store& store) {
  std::ostringstream out;
  must(export_ndjson(store, out));
  return out.str();
}

// A store of unusual attempts, drawn from the seed; some tasks and foreign lines are shared.
Store odd_store(const std::filesystem::path& path, uint64_t seed, int count) {
  Rng rng(seed);
  Store store = must(Store::open(path));
  const std::string tasks[] = {"matmul:m=16,n=16,k=16", "matmul:m=8,n=16,k=16", "C1D0"};
  must(store.put_machine(machine_named("one")));
  must(store.put_machine(machine_named(fmt::format("of seed {}", seed))));
  must(store.put_run(run_one(), {3, 3}));
  must(store.put_run({.id = {4, seed}, .start_us = 3, .command = "tune", .version = "1"},
                     {3, seed % 2}, {.trials = 7, .seconds = 0.1}));
  std::vector<Attempt> attempts;
  for (const std::string& task : tasks) {
    for (const int threads : {1, 2}) must(store.put_task(task_for(task, threads)));
  }
  for (int k = 0; k < count; ++k) {
    Task task = task_for(tasks[rng.below(std::size(tasks))], static_cast<int>(rng.between(1, 2)));
    if (rng.chance(0.1)) task.workload.text = odd_text(rng);
    if (k < 10) must(store.put_task(task));
    attempts.push_back(odd_attempt(task, rng));
  }
  must(store.append(attempts));
  must(import_ndjson_text(store, fmt::format("{{\"type\":\"dream\",\"of\":{}}}\n"
                                             "{{\"type\":\"dream\",\"of\":\"all\"}}\n"
                                             "{{\"type\":\"target\",\"text\":\"x\",\"n\":{}}}\n",
                                             seed, seed)));
  return store;
}

TEST(Ndjson, TheRoundTripIsTheIdentity) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const ScratchFolder folder;
    Store store = odd_store(folder / "a.db", seed, 100);
    const std::string text = export_text(store);
    Store again = must(Store::open(folder / "b.db"));
    const ImportReport report = must(import_ndjson_text(again, text));
    EXPECT_EQ(report.malformed, 0) << report.named[0].why;
    EXPECT_EQ(export_text(again), text);
    EXPECT_EQ(report.attempts, 100);
    // Again: all lines are known.
    const ImportReport second = must(import_ndjson_text(again, text));
    EXPECT_EQ(second.known, second.lines);
    EXPECT_EQ(export_text(again), text);
  }
}

TEST(Ndjson, MergingIsIdempotentAndCommutative) {
  const ScratchFolder folder;
  Store a = odd_store(folder / "a.db", 1, 60);
  Store b = odd_store(folder / "b.db", 2, 60);
  Store ab = must(Store::open(folder / "ab.db"));
  Store ba = must(Store::open(folder / "ba.db"));
  must(merge(ab, a));
  EXPECT_EQ(export_text(ab), export_text(a));
  must(merge(ab, b));
  must(merge(ba, b));
  must(merge(ba, a));
  const std::string text = export_text(ab);
  EXPECT_EQ(export_text(ba), text);
  must(merge(ab, a));
  must(merge(ab, ba));
  must(merge(ab, ab));
  EXPECT_EQ(export_text(ab), text);
  // Through text, in any order of lines.
  Store lines = must(Store::open(folder / "lines.db"));
  std::istringstream in(export_text(b) + export_text(a));
  std::vector<std::string> shuffled;
  for (std::string line; std::getline(in, line);) shuffled.push_back(line);
  std::ranges::sort(shuffled);  // attempts come first
  std::string all;
  for (const std::string& line : shuffled) all += line + "\r\n\n";
  const ImportReport report = must(import_ndjson_text(lines, all));
  EXPECT_EQ(report.malformed, 0);
  EXPECT_EQ(report.arrived, report.waiting);
  EXPECT_EQ(export_text(lines), text);
}

TEST(Ndjson, TrajectoryDoesNotDependOnTheOrderOfLines) {
  const ScratchFolder folder;
  Store store = must(Store::open(folder / "a.db"));
  const record::Run run = run_one();
  must(store.put_run(run, {3, 3}, {.trials = 7, .seconds = 0.1}));
  const std::string text = export_text(store);
  EXPECT_THAT(text, HasSubstr("{\"type\":\"trajectory\",\"v\":1,"
                              "\"key\":\"00000000000000030000000000000003\","
                              "\"run\":\"00000000000000010000000000000002\","
                              "\"trials\":7,\"seconds\":0.1}\n"));
  const size_t end_of_run = text.find('\n') + 1;
  Store other = must(Store::open(folder / "b.db"));
  must(import_ndjson_text(other, text.substr(end_of_run)));  // the run comes later
  EXPECT_TRUE(must(other.find_trajectory({3, 3})).runs.empty());
  must(import_ndjson_text(other, text.substr(0, end_of_run)));
  EXPECT_EQ(must(other.find_trajectory({3, 3})).runs, std::vector<record::Run>{run});
  EXPECT_EQ(export_text(other), text);
  // The same key and run with another budget: both are kept.
  std::string changed = text.substr(end_of_run);
  changed.replace(changed.find(":7,"), 3, ":8,");
  EXPECT_EQ(must(import_ndjson_text(other, changed)).variants, 1);
  EXPECT_THAT(export_text(other), HasSubstr("\"trials\":8"));
}

// Lines as the first version of the program wrote them: runs with the mark of a trajectory in their
// command. All lines are read, and their verdicts are valid.
TEST(Ndjson, LinesOfTheFirstVersionAreValid) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  std::ifstream in(std::string(TILEWRIGHT_SOURCE_DIR) + "/src/record/version1.ndjson");
  std::ostringstream lines;
  lines << in.rdbuf();
  ASSERT_FALSE(lines.str().empty());
  Store store = must(Store::open(folder / "a.db"));
  const ImportReport report = must(import_ndjson_text(store, lines.str()));
  EXPECT_EQ(report.malformed, 0) << report.named[0].why;
  EXPECT_EQ(report.foreign, 0);
  EXPECT_EQ(export_text(store), lines.str());
  const std::vector<StoredTask> tasks = must(store.tasks());
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(must(task_of(tasks[0])).key(), task.key());  // what it means has its key
  const auto known = must(store.measured({.task = task.key(),
                                          .machine = machine_id(machine_named("one")),
                                          .protocol = {},
                                          .code_generator = 3}));
  ASSERT_EQ(known.size(), 3U);
  EXPECT_EQ(must(store.best(task.key(), {}, 1)).front(), timed(task, 2, 800));
  // Also if a trace has the former spelling of a step.
  const auto old = std::ranges::find(known, VerdictKind::WrongResult,
                                     [](const Attempt& one) { return one.verdict.kind; });
  ASSERT_NE(old, known.end());
  EXPECT_THAT(old->trace, HasSubstr("vectorise"));
  EXPECT_TRUE(schedule::trace_from_text(old->trace));
}

TEST(Ndjson, AttemptsWaitForTheirTask) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  Store whole = store_with(folder / "whole.db", task);
  const Attempt attempt = timed(task, 1);
  must(whole.append({&attempt, 1}));
  const std::string text = export_text(whole);
  Store store = must(Store::open(folder / "a.db"));
  const ImportReport first = must(import_ndjson_text(store, print_line(Line(attempt)) + "\n"));
  EXPECT_EQ(first.waiting, 1);
  EXPECT_EQ(must(store.find_attempt(attempt.id())), std::nullopt);
  EXPECT_EQ(export_text(store), print_line(Line(attempt)) + "\n");
  Store other = must(Store::open(folder / "b.db"));
  must(merge(other, store));  // waits there too
  EXPECT_EQ(export_text(other), export_text(store));
  const ImportReport second = must(import_ndjson_text(store, text));
  EXPECT_EQ(second.arrived + second.attempts, 1);
  EXPECT_EQ(must(store.find_attempt(attempt.id())), attempt);
  EXPECT_EQ(export_text(store), text);
}

TEST(Ndjson, UnknownLinesAreCarriedUnchanged) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  Store store = store_with(folder / "a.db", task);
  Attempt attempt = timed(task, 1);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string line = print_line(Line(attempt));
    const size_t at = line.find(from);
    CHECK(at != std::string::npos, "{}", from);
    return line.replace(at, from.size(), to);
  };
  const std::string lines[] = {
      R"({"type":"dream"})",
      R"({ "type" : "dream", "big": 123456789012345678901234567890, "x": [1.50, {"y": null}] })",
      R"({"what":{"type":"attempt"},"type":"d\u00e9j\u00e0"})",
      R"({"type":"task","v":2,"anything":true})",
      changed("\"timed\"", "\"exploded\""),
      changed("v1;warm", "v7;lukewarm"),
      R"({"type":"task","key":"00000000000000000000000000000001","workload":"00000000000000000000000000000002","text":"x","licences":"bend_time","target":"y"})",
  };
  for (const std::string& line : lines) {
    const ImportReport report = must(import_ndjson_text(store, line));
    EXPECT_EQ(report.foreign, 1) << line;
    EXPECT_EQ(must(import_ndjson_text(store, "  " + line + " \r\n")).known, 1) << line;
    EXPECT_THAT(export_text(store), HasSubstr("\n" + line + "\n"));
  }
  // Members that are not known go with their attempt.
  std::string line = print_line(Line(attempt));
  line.erase(line.find("\"id\""), 40);
  const std::string members = R"("zeal":123456789012345678901234567890,"aim":[1, 2.50])";
  ASSERT_EQ(must(import_ndjson_text(store, "{" + members + "," + line.substr(1))).attempts, 1);
  attempt.extra = R"({"aim":[1, 2.50],"zeal":123456789012345678901234567890})";
  EXPECT_EQ(must(store.find_attempt(attempt.id())), attempt);
  EXPECT_THAT(export_text(store), HasSubstr("," + attempt.extra.substr(1) + "\n"));
}

TEST(Ndjson, MalformedLinesAreReportedAndSkipped) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  Store store = store_with(folder / "a.db", task);
  const std::string good = print_line(Line(timed(task, 1)));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    return line.replace(line.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense", "not a complete"},
      {"{\"type\":\"dream\"", "not a complete"},
      {"[1]", "not a complete JSON object"},
      {"7", "not a complete JSON object"},
      {"{}", "no member 'type'"},
      {"{\"type\":5}", "no member 'type'"},
      {"{\"type\":\"dream\",\"v\":\"x\"}", "'v' is not an integer"},
      {"{\"type\":\"dream\",\"v\":0}", "less than 1"},
      {"{\"type\":\"dream\",\"x\":nonsense}", "malformed"},
      {"{\"type\":\"dream\"} {}", "malformed"},
      {"{\"type\":\"run\"}", "member 'id' is missing"},
      {"{\"type\":\"machine\",\"id\":\"xyz\"}", "member 'id' is not as it should be"},
      {"{\"type\":\"machine\",\"model\":\"xyz\"}", "member 'id' is missing"},
      {good + "}", "follows"},
      {good + good, "follows"},
      {good.substr(0, good.size() / 2), ""},
      {changed("\"sequence\":1", "\"sequence\":1.5"), "'sequence'"},
      {changed("\"sequence\":1", "\"sequence\":2"), "is not that of its content"},
      {changed("\"sequence\":1", "\"sequence\":1,\"sequence\":1"), "'sequence' is there twice"},
      {changed("\"load\":0.25", "\"load\":-0.25"), "'load'"},
      {changed("\"load\":0.25", "\"load\":1e999"), ""},
      {changed("\"load\":0.25", "\"load\":0.25,\"more\":tru"), "malformed"},
      {changed("[1000,", "[1000,null,"), "'samples_ns'"},
      {changed("\"program\":\"0", "\"program\":\"G"), "'program'"},
      {changed("annotate",
               "annot\xff"
               "te"),
       "malformed"},
  };
  std::string text;
  for (const auto& [line, why] : cases) text += line + "\n";
  const ImportReport report = must(import_ndjson_text(store, "\n" + text + good));
  EXPECT_EQ(report.malformed, std::ssize(cases));
  EXPECT_EQ(report.attempts, 1);
  ASSERT_EQ(report.named.size(), ImportReport::kMaxNamed);
  for (const auto& [line, why] : cases) {
    const ImportReport one = must(import_ndjson_text(store, line + "\n"));
    ASSERT_EQ(one.malformed, 1) << line;
    EXPECT_THAT(one.named[0].why, HasSubstr(why)) << line;
  }
  EXPECT_EQ(report.named[3].number, 5);
}

TEST(Ndjson, FilesOfAnyShape) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  Store store = store_with(folder / "a.db", task);
  Attempt large = timed(task, 1);
  large.verdict.text.assign(9'000'000, 'x');  // longer than a block
  const Attempt small = timed(task, 2);
  std::ofstream(folder / "lines") << print_line(Line(small)) << "\n"
                                  << print_line(Line(large)) << "\n"
                                  << print_line(Line(timed(task, 3)));
  const ImportReport report = must(import_ndjson(store, folder / "lines"));
  EXPECT_EQ(report.attempts, 3);
  EXPECT_EQ(must(store.find_attempt(large.id())), large);
  std::ofstream(folder / "empty") << "";
  EXPECT_EQ(must(import_ndjson(store, folder / "empty")).lines, 0);
  EXPECT_THAT(import_ndjson(store, folder / "none").error().message,
              HasSubstr("No such file or directory"));
  EXPECT_THAT(import_ndjson(store, folder.path()).error().message, HasSubstr("Is a directory"));
}

TEST(Ndjson, AnExportThatCannotBeWrittenIsAnError) {
  const ScratchFolder folder;
  Store store = odd_store(folder / "a.db", 1, 10);
  std::ofstream full("/dev/full");
  EXPECT_EQ(export_ndjson(store, full).error().kind, ErrorKind::Io);
}

TEST(Ndjson, SinkMayEndAnExport) {
  const ScratchFolder folder;
  const Task task = task_for("matmul:m=16,n=16,k=16");
  Store store = store_with(folder / "a.db", task);
  for (int sequence = 1; sequence <= 3; ++sequence) {
    Attempt large = timed(task, sequence);
    large.verdict.text.assign(2'000'000, 'x');  // longer than a block
    must(store.append({&large, 1}));
  }
  size_t parts = 0;
  must(export_ndjson(store, [&](std::string_view) {
    ++parts;
    return false;
  }));
  EXPECT_EQ(parts, 1U);
}

TEST(Ndjson, StopKeepsAddedLines) {
  const ScratchFolder folder;
  Store from = odd_store(folder / "from.db", 1, 1000);
  const std::string text = export_text(from);
  std::ofstream(folder / "lines") << text;
  const int64_t lines = std::ranges::count(text, '\n');

  Store imported = must(Store::open(folder / "imported.db"));
  const StopSource stop;
  const auto open = [&]() -> Result<Store*> {  // at the first line
    stop.request();
    return &imported;
  };
  const ImportReport some = must(import_ndjson(open, folder / "lines", stop.token()));
  EXPECT_GT(some.lines, 0);
  EXPECT_LT(some.lines, lines);
  const ImportReport rest = must(import_ndjson(imported, folder / "lines"));
  EXPECT_EQ(rest.known, some.lines);
  EXPECT_EQ(export_text(imported), text);

  Store merged = must(Store::open(folder / "merged.db"));
  EXPECT_EQ(must(merge(merged, from, stop.token())).lines, 1);
  must(merge(merged, from));
  EXPECT_EQ(export_text(merged), text);
}

// An incomplete line is not a malformed line.
TEST(Ndjson, StopEndsTheWaitForAPipe) {
  const ScratchFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int writer = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, "{\"type\"", 7), 7);
  const StopSource stop;
  const std::jthread requester([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request();
  });
  Store store = must(Store::open(folder / "a.db"));
  const ImportReport report = must(import_ndjson(store, pipe, stop.token()));
  EXPECT_EQ(report.lines, 0);
  EXPECT_EQ(report.malformed, 0);
  ::close(writer);
}

TEST(Ndjson, LinesUseTheNamesOfTheHeaders) {
  const Task task = task_for("matmul:m=16,n=16,k=16");
  const Result<Json> json = parse_json(print_line(Line(timed(task, 1))));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->at("type"), "attempt");
  EXPECT_EQ(json->at("verdict"), "timed");
  EXPECT_EQ(json->at("samples_ns"), Json({1000, 1000.1}));
  EXPECT_EQ(json->at("protocol"), "v1;warm");
}

}  // namespace
}  // namespace tilewright::record
