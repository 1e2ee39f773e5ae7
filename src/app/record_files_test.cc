#include "app/record_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/must_testing.h"
#include "base/temporary_folder.h"

namespace tilewright::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

// Calls a function before each report.
class Listener : public ImportListener {
 public:
  explicit Listener(std::function<void()> on_report = {}) : on_report_(std::move(on_report)) {}
  void on_lines(const std::string& source, const record::ImportReport& /*report*/) override {
    sources.push_back(source);
    if (on_report_) on_report_();
  }
  std::vector<std::string> sources;

 private:
  std::function<void()> on_report_;
};

class RecordFiles : public testing::Test {
 protected:
  RecordFiles() {
    record::Store store = must(record::Store::open(records_));
    must(store.put_run({.id = {1, 2}, .start_us = 1, .command = "test", .version = "1"}));
    std::ostringstream out;
    must(record::export_ndjson(store, out));
    text_ = out.str();
    stopped_.request();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().native());
    }
    std::ranges::sort(names);
    return names;
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-record-files-").value();
  const std::string records_ = folder_ / "a.db";
  const fs::path lines_ = folder_ / "lines";
  std::string text_;  // of the export
  StopSource stopped_;
};

TEST_F(RecordFiles, ExportReplacesItsFile) {
  ASSERT_TRUE(write_file_atomically(folder_ / "lines.tmp", "of the user").has_value());
  ASSERT_TRUE(write_file_atomically(lines_, "old").has_value());
  fs::permissions(lines_, fs::perms::owner_read | fs::perms::owner_write);
  const ExportOutcome outcome = must(export_records(records_, lines_, {}));
  EXPECT_EQ(outcome.bytes, text_.size());
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(must(read_file(lines_)), text_);
  EXPECT_EQ(must(read_file(folder_ / "lines.tmp")), "of the user");
  EXPECT_EQ(fs::status(lines_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(names(), ElementsAre("a.db", "lines", "lines.tmp"));
}

TEST_F(RecordFiles, ExportWritesToDevicesAndThroughLinks) {
  EXPECT_EQ(must(export_records(records_, "/dev/null", {})).bytes, text_.size());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(export_records(records_, "/dev/full", {}).error().message,
            "cannot write /dev/full: No space left on device");
  fs::create_symlink("target", lines_);
  must(export_records(records_, lines_, {}));
  EXPECT_TRUE(fs::is_symlink(lines_));
  EXPECT_EQ(must(read_file(folder_ / "target")), text_);
}

TEST_F(RecordFiles, StopKeepsThePreviousExport) {
  ASSERT_TRUE(write_file_atomically(lines_, "old").has_value());
  EXPECT_TRUE(must(export_records(records_, lines_, stopped_.token())).stopped);
  EXPECT_EQ(must(read_file(lines_)), "old");
  EXPECT_THAT(names(), ElementsAre("a.db", "lines"));
  std::ostringstream out;
  EXPECT_TRUE(must(export_records(records_, out, stopped_.token())).stopped);
  EXPECT_FALSE(must(export_records(records_, out, {})).stopped);
}

TEST_F(RecordFiles, AStopEndsAnImportBetweenAndWithinFiles) {
  must(export_records(records_, lines_, {}));
  const std::string other = folder_ / "b.db";
  Listener silent;
  const ImportOutcome none = must(
      import_records({.records = other, .files = {lines_.native()}}, silent, stopped_.token()));
  EXPECT_TRUE(none.stopped);
  EXPECT_FALSE(fs::exists(other));

  const StopSource stop;
  Listener stopping([&] { stop.request(); });
  const ImportOutcome first = must(import_records(
      {.records = other, .files = {lines_.native(), lines_.native()}}, stopping, stop.token()));
  EXPECT_TRUE(first.stopped);
  EXPECT_THAT(stopping.sources, ElementsAre(lines_.native()));
  std::ostringstream out;
  must(export_records(other, out, {}));
  EXPECT_EQ(out.str(), text_);
}

TEST_F(RecordFiles, AStopEndsLogsMergesAndChecks) {
  ASSERT_TRUE(write_file_atomically(folder_ / "log", "").has_value());
  Listener silent;
  const ImportOutcome logs = must(import_records({.records = records_,
                                                  .files = {folder_ / "log"},
                                                  .ansor = "matmul:m=16,n=16,k=16",
                                                  .traces = folder_ / "traces"},
                                                 silent, stopped_.token()));
  EXPECT_TRUE(logs.stopped);
  EXPECT_FALSE(fs::exists(folder_ / "traces"));

  const StopSource stop;
  Listener stopping([&] { stop.request(); });
  const std::string other = folder_ / "b.db";
  const MergeOutcome merged =
      must(merge_records(other, {records_, records_}, stopping, stop.token()));
  EXPECT_TRUE(merged.stopped);
  EXPECT_EQ(stopping.sources.size(), 1U);
  EXPECT_FALSE(must(merge_records(other, {records_}, silent, {})).stopped);

  EXPECT_TRUE(must(check_records(records_, 200, stopped_.token())).stopped);
  EXPECT_FALSE(must(check_records(records_, 200, {})).stopped);
}

}  // namespace
}  // namespace tilewright::app
