#include "base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

TemporaryFolder made() {
  Result<TemporaryFolder> folder = TemporaryFolder::make(fs::temp_directory_path(), "folder_test-");
  EXPECT_TRUE(folder.has_value());
  return *std::move(folder);
}

TEST(TemporaryFolder, IsRemovedWithItsContents) {
  fs::path path;
  {
    const TemporaryFolder folder = made();
    path = folder.path();
    EXPECT_EQ(path.parent_path(), fs::temp_directory_path());
    EXPECT_THAT(path.filename().native(), testing::StartsWith("folder_test-"));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directory(folder / "inside");
    ASSERT_TRUE(write_file_atomically(folder / "inside/file", "text").has_value());
    EXPECT_NE(made().path(), path);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, HasOneOwner) {
  TemporaryFolder first = made();
  const fs::path path = first.path();
  {
    const TemporaryFolder second = std::move(first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, ScratchFolderIsInTheSystemFolder) {
  const auto folder = make_scratch_folder("scratch_test-");
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->path().parent_path(), fs::temp_directory_path());
  EXPECT_TRUE(fs::is_directory(folder->path()));
}

TEST(TemporaryFolder, FailureNamesTheParentFolder) {
  const auto folder = TemporaryFolder::make("/nowhere/at/all", "x-");
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().kind, ErrorKind::Io);
  EXPECT_EQ(folder.error().message,
            "/nowhere/at/all: a folder cannot be made there: No such file or directory");
}

}  // namespace
}  // namespace tilewright
