#include "record/salvage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/file.h"
#include "record/check.h"
#include "record/ndjson.h"
#include "record/record_testing.h"

namespace tilewright::record {
namespace {

namespace fs = std::filesystem;
using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kPage = 4096;
constexpr int kAttempts = 1500;
// A page of the smallest rows that an attempt needs, those of candidates.
constexpr size_t kMaxPerPage = kPage / 30;

const Error kWhy{.kind = ErrorKind::BadInput, .message = "it cannot be opened"};

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::set<std::string> lines_of(Store& store) {
  std::ostringstream out;
  must(export_ndjson(store, out));
  std::set<std::string> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

// A store of many pages, as bytes and as lines.
class Salvage : public ::testing::Test {
 protected:
  Salvage() {
    Store store = store_with(folder_ / "whole.db", task_);
    std::vector<Attempt> attempts;
    for (int k = 0; k < kAttempts; ++k) {
      attempts.push_back(timed(task_, k, 2000 - k));
      if (k % 100 == 0) attempts.back().verdict.text = std::string(3 * kPage, 'x');
    }
    must(store.append(attempts));
    lines_ = lines_of(store);
  }

  // What is saved of these bytes: lines of the store, which make an intact one. The file is not
  // changed.
  std::set<std::string> saved_of(const std::string& bytes) {
    const fs::path file = folder_ / "damaged.db";
    write(file, bytes);
    Salvaged saved = must(salvage(file, kWhy));
    EXPECT_EQ(must(read_file(file)), bytes);
    damage_ = saved.damage;
    EXPECT_THAT(must(check(saved.store)).problems, IsEmpty());
    std::set<std::string> lines = lines_of(saved.store);
    EXPECT_TRUE(std::ranges::includes(lines_, lines));
    return lines;
  }

  ScratchFolder folder_;
  Task task_ = task_for("matmul:m=16,n=16,k=16");
  std::set<std::string> lines_;
  std::string damage_;
};

TEST_F(Salvage, TruncatedFilesKeepTheRecordsOfTheirPages) {
  const std::string whole = must(read_file(folder_ / "whole.db"));
  const size_t pages = whole.size() / kPage;
  ASSERT_EQ(whole.size() % kPage, 0U);
  ASSERT_GT(pages, 100U);
  for (const size_t kept : {whole.size() - 1, whole.size() - kPage / 2, whole.size() - kPage,
                            whole.size() - 3 * kPage, whole.size() * 96 / 100}) {
    const size_t missing = pages - kept / kPage;
    const std::set<std::string> lines = saved_of(whole.substr(0, kept));
    EXPECT_LE(lines_.size() - lines.size(), missing * kMaxPerPage) << kept;
    EXPECT_EQ(damage_, "it has " + std::to_string(pages - missing) + " of its " +
                           std::to_string(pages) + " pages");
  }
  const size_t half = saved_of(whole.substr(0, whole.size() / 2)).size();
  EXPECT_GT(half, lines_.size() / 10);
  EXPECT_LT(half, lines_.size());
}

TEST_F(Salvage, WithoutTablesNothingIsSaved) {
  const std::string whole = must(read_file(folder_ / "whole.db"));
  for (const size_t kept : {size_t{50}, size_t{100}, size_t{2000}, kPage}) {
    write(folder_ / "damaged.db", std::string_view(whole).substr(0, kept));
    const Result<Salvaged> saved = salvage(folder_ / "damaged.db", kWhy);
    ASSERT_FALSE(saved.has_value());
    EXPECT_THAT(saved.error().message, HasSubstr("none of its records can be read"));
    EXPECT_THAT(saved.error().jobs, IsEmpty());
  }
}

TEST_F(Salvage, DamagedPagesAreLeftOut) {
  const std::string whole = must(read_file(folder_ / "whole.db"));
  const size_t pages = whole.size() / kPage;
  for (const size_t page : {pages / 2, pages * 3 / 4, pages - 1}) {
    std::string bytes = whole;
    bytes.replace(page * kPage, kPage, std::string(kPage, '\x55'));
    EXPECT_LE(lines_.size() - saved_of(bytes).size(), kMaxPerPage) << page;
    bytes.replace(page * kPage, kPage, std::string(kPage, '\0'));
    EXPECT_LE(lines_.size() - saved_of(bytes).size(), kMaxPerPage) << page;
  }
}

TEST_F(Salvage, ChangedAttemptsAreLeftOut) {
  std::string bytes = must(read_file(folder_ / "whole.db"));
  const size_t at = bytes.rfind("xxxx");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'y';
  EXPECT_EQ(saved_of(bytes).size(), lines_.size() - 1);
}

TEST_F(Salvage, CommitsInTheLogAreSaved) {
  Store store = must(Store::open(folder_ / "whole.db"));
  const Attempt last = timed(task_, kAttempts, 5);
  must(store.append({&last, 1}));
  for (const char* const end : {"", "-wal"}) {
    fs::copy_file((folder_ / "whole.db").native() + end, (folder_ / "cut.db").native() + end);
  }
  fs::resize_file(folder_ / "cut.db", fs::file_size(folder_ / "cut.db") - kPage);
  Salvaged saved = must(salvage(folder_ / "cut.db", kWhy));
  EXPECT_EQ(must(saved.store.find_attempt(last.id())), last);
  EXPECT_LE(lines_.size() - lines_of(saved.store).size(), kMaxPerPage);
}

TEST_F(Salvage, CountsOfPagesInAHeaderAreBounded) {
  std::string bytes = must(read_file(folder_ / "whole.db"));
  bytes.replace(28, 4, "\x7f\xff\xff\xff");
  write(folder_ / "damaged.db", bytes);
  const Result<Salvaged> saved = salvage(folder_ / "damaged.db", kWhy);
  ASSERT_FALSE(saved.has_value());
  EXPECT_THAT(saved.error().message, HasSubstr("its header counts 2147483647 pages"));
}

TEST_F(Salvage, AStopIsAnErrorLikeAllStops) {
  const StopSource stop;
  stop.request();
  const Result<Salvaged> saved = salvage(folder_ / "whole.db", kWhy, stop.token());
  ASSERT_FALSE(saved.has_value());
  EXPECT_EQ(saved.error().kind, ErrorKind::Io);
  EXPECT_EQ(saved.error().message, "stopped");
}

// The texts of the schema are data: nothing but definitions is executed.
TEST_F(Salvage, StatementsInTheSchemaAreNotExecuted) {
  std::string bytes = must(read_file(folder_ / "whole.db"));
  const size_t at = bytes.find("CREATE INDEX ");
  ASSERT_NE(at, std::string::npos);
  const std::string statement = "COMMIT;ATTACH'foreign.db'AS x;CREATE TABLE x.y(z);--";
  bytes.replace(at, statement.size(), statement);
  write(folder_ / "damaged.db", bytes);
  const bool saved = salvage(folder_ / "damaged.db", kWhy).has_value();
  EXPECT_FALSE(fs::exists("foreign.db")) << saved;
}

TEST_F(Salvage, OtherFilesAreRefusedWithTheFirstError) {
  std::string bytes = must(read_file(folder_ / "whole.db"));
  bytes[68] ^= 1;  // the application
  write(folder_ / "other.db", bytes);
  EXPECT_EQ(salvage(folder_ / "other.db", kWhy).error(), kWhy);
  bytes[68] ^= 1;
  bytes[63] = 99;  // the version of the schema
  write(folder_ / "other.db", bytes);
  EXPECT_EQ(salvage(folder_ / "other.db", kWhy).error(), kWhy);
}

}  // namespace
}  // namespace tilewright::record
