#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/temporary_folder.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const TemporaryFolder scratch_ = make_scratch_folder("tilewright-file-").value();
  const fs::path folder_ = scratch_.path();
};

TEST_F(FileTest, ReadsBackWhatItWrote) {
  std::string bytes = "first\nsecond";
  bytes += '\0';
  bytes.append(200000, 'x');
  ASSERT_TRUE(write_file_atomically(folder_ / "a", bytes).has_value());
  EXPECT_EQ(read_file(folder_ / "a"), bytes);
  ASSERT_TRUE(write_file_atomically(folder_ / "a", "").has_value());
  EXPECT_EQ(read_file(folder_ / "a"), "");
  EXPECT_EQ(files(), 1u) << "a temporary file was left behind";
}

TEST_F(FileTest, ReplacingKeepsPermissions) {
  ASSERT_TRUE(write_file_atomically(folder_ / "a", "1").has_value());
  fs::permissions(folder_ / "a", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file_atomically(folder_ / "a", "2").has_value());
  EXPECT_EQ(fs::status(folder_ / "a").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, ReadsFilesWithoutASize) {
  const Result<std::string> status = read_file("/proc/self/status");
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(*status, testing::HasSubstr("Pid:"));
}

TEST_F(FileTest, ReadsNoMoreThanAllowed) {
  ASSERT_TRUE(write_file_atomically(folder_ / "a", "1234").has_value());
  EXPECT_EQ(read_file(folder_ / "a", 4), "1234");
  EXPECT_FALSE(read_file(folder_ / "a", 3).has_value());
  const Result<std::string> endless = read_file("/dev/zero", 1 << 20);
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().message, "cannot read /dev/zero: it has more than 1048576 bytes");
}

TEST_F(FileTest, ErrorsNameThePathAndTheReason) {
  const Result<std::string> missing = read_file(folder_ / "none");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::Io);
  EXPECT_EQ(missing.error().message,
            "cannot open " + (folder_ / "none").native() + ": No such file or directory");

  const Result<std::string> directory = read_file(folder_);
  ASSERT_FALSE(directory.has_value());
  EXPECT_THAT(directory.error().message, testing::HasSubstr("Is a directory"));

  const Status nowhere = write_file_atomically(folder_ / "none" / "a", "x");
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_THAT(nowhere.error().message, testing::HasSubstr("No such file or directory"));

  const Status over_directory = write_file_atomically(folder_, "x");
  ASSERT_FALSE(over_directory.has_value());
  EXPECT_FALSE(fs::exists(folder_.native() + ".tmp"));
}

TEST_F(FileTest, OnlyRegularFilesHaveASize) {
  ASSERT_TRUE(write_file_atomically(folder_ / "a", "1234").has_value());
  EXPECT_EQ(size_of_file(folder_ / "a"), 4u);
  const Result<uint64_t> missing = size_of_file(folder_ / "none");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::Io);
  EXPECT_EQ(missing.error().message, "cannot read the size of " + (folder_ / "none").native() +
                                         ": No such file or directory");
  EXPECT_FALSE(size_of_file(folder_).has_value());
  EXPECT_FALSE(size_of_file("/dev/null").has_value());
}

}  // namespace
}  // namespace tilewright
