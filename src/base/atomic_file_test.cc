#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace {

std::function<int(int)> on_fsync;  // empty: that of the system

}  // namespace

// In place of that of the C library.
extern "C" int fsync(int fd) {
  if (on_fsync) return on_fsync(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr fs::perms kPrivate = fs::perms::owner_read | fs::perms::owner_write;
constexpr fs::perms kForAll = kPrivate | fs::perms::group_read | fs::perms::group_write |
                              fs::perms::others_read | fs::perms::others_write;

class Umask {
 public:
  explicit Umask(mode_t mask) : old_(::umask(mask)) {}
  ~Umask() { ::umask(old_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t old_;
};

class AtomicFileTest : public testing::Test {
 protected:
  ~AtomicFileTest() override { on_fsync = {}; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().native());
    }
    std::ranges::sort(names);
    return names;
  }
  void put(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

  const TemporaryFolder scratch_ = make_scratch_folder("tilewright-atomic-").value();
  const fs::path folder_ = scratch_.path();
  const fs::path path_ = folder_ / "a";
};

TEST_F(AtomicFileTest, ReplacesTheFileWhenItIsFinished) {
  put(path_, "old");
  AtomicFile file = AtomicFile::create(path_).value();
  file.append("first ");
  file.append(std::as_bytes(std::span(std::string_view("second"))));
  EXPECT_EQ(file.size(), 12u);
  EXPECT_EQ(read_file(path_), "old");
  ASSERT_TRUE(file.close().has_value());
  EXPECT_EQ(read_file(path_), "old");
  ASSERT_TRUE(file.finish().has_value());
  EXPECT_EQ(read_file(path_), "first second");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, UnfinishedWritesLeaveNoFile) {
  put(path_, "old");
  {
    AtomicFile file = AtomicFile::create(path_).value();
    file.append("new");
    const AtomicFile moved = std::move(file);
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(read_file(path_), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, ConcurrentWritersUseDistinctTemporaryFiles) {
  put(folder_ / "a.tmp", "of the user");
  AtomicFile one = AtomicFile::create(path_).value();
  AtomicFile two = AtomicFile::create(path_).value();
  one.append("one");
  two.append("two, longer");
  one.append(" complete");
  ASSERT_TRUE(two.finish().has_value());
  EXPECT_EQ(read_file(path_), "two, longer");
  ASSERT_TRUE(one.finish().has_value());
  EXPECT_EQ(read_file(path_), "one complete");
  EXPECT_EQ(read_file(folder_ / "a.tmp"), "of the user");
  EXPECT_THAT(names(), ElementsAre("a", "a.tmp"));
}

TEST_F(AtomicFileTest, KeepsThePermissionsOfTheReplacedFile) {
  for (const fs::perms mode : {kPrivate, kForAll}) {
    put(path_, "old");
    fs::permissions(path_, mode);
    const Umask umask(022);
    AtomicFile file = AtomicFile::create(path_).value();
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_EQ(entry.status().permissions(), mode) << entry.path();
    }
    ASSERT_TRUE(file.finish().has_value());
    EXPECT_EQ(fs::status(path_).permissions(), mode);
  }
}

TEST_F(AtomicFileTest, ANewFileHasThePermissionsOfTheUmask) {
  const Umask umask(077);
  ASSERT_TRUE(AtomicFile::create(path_).value().finish().has_value());
  EXPECT_EQ(fs::status(path_).permissions(), kPrivate);
}

TEST_F(AtomicFileTest, SymbolicLinkIsFollowedAndKept) {
  fs::create_directory(folder_ / "other");
  put(folder_ / "other" / "b", "old");
  fs::permissions(folder_ / "other" / "b", kPrivate);
  fs::create_symlink("other/c", path_);
  fs::create_symlink("b", folder_ / "other" / "c");
  AtomicFile file = AtomicFile::create(path_).value();
  file.append("new");
  ASSERT_TRUE(file.finish().has_value());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "other" / "c"));
  EXPECT_EQ(read_file(folder_ / "other" / "b"), "new");
  EXPECT_EQ(fs::status(folder_ / "other" / "b").permissions(), kPrivate);
  EXPECT_THAT(names(), ElementsAre("a", "other"));
}

TEST_F(AtomicFileTest, CreatesTheTargetOfADanglingLink) {
  fs::create_symlink(folder_ / "later", path_);
  AtomicFile file = AtomicFile::create(path_).value();
  file.append("new");
  ASSERT_TRUE(file.finish().has_value());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read_file(folder_ / "later"), "new");
}

TEST_F(AtomicFileTest, ALoopOfSymbolicLinksIsAnError) {
  fs::create_symlink("b", path_);
  fs::create_symlink("a", folder_ / "b");
  const Result<AtomicFile> file = AtomicFile::create(path_);
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message, HasSubstr("Too many levels of symbolic links"));
}

TEST_F(AtomicFileTest, APipeIsWrittenDirectly) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  AtomicFile file = AtomicFile::create(path_).value();
  file.append("through");
  ASSERT_TRUE(file.finish().has_value());
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(reader, buffer.data(), buffer.size()), 7);
  EXPECT_STREQ(buffer.data(), "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path_));
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, ADeviceIsWrittenDirectly) {
  fs::create_symlink("/dev/full", path_);
  AtomicFile file = AtomicFile::create(path_).value();
  file.append("x");
  EXPECT_TRUE(file.failed());
  file.append("y");
  const Status full = file.finish();
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().message, "cannot write " + path_.native() + ": No space left on device");
  EXPECT_TRUE(fs::is_character_file(path_));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(write_file_atomically("/dev/null", "x").has_value());
}

// Like /dev/stdout: a program that has it open must keep the same file.
TEST_F(AtomicFileTest, AnOpenFileIsWrittenDirectly) {
  put(path_, "longer than the new bytes");
  const Descriptor open(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(open);
  const std::string number = std::to_string(open.get());
  for (const bool removed : {false, true}) {
    if (removed) fs::remove(path_);
    for (const std::string& link : {"/proc/self/fd/" + number, "/dev/fd/" + number}) {
      ASSERT_TRUE(write_file_atomically(link, link).has_value());
      std::array<char, 64> buffer{};
      EXPECT_EQ(::pread(open.get(), buffer.data(), buffer.size(), 0), std::ssize(link));
      EXPECT_EQ(buffer.data(), link);
    }
  }
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(AtomicFileTest, SyncsTheFileBeforeItReplacesAndTheFolderAfter) {
  put(path_, "old");
  std::vector<std::string> synced;
  on_fsync = [&](int fd) {
    struct stat info = {};
    ::fstat(fd, &info);
    synced.push_back((S_ISDIR(info.st_mode) ? "folder " : "file ") + read_file(path_).value());
    return 0;
  };
  ASSERT_TRUE(write_file_atomically(path_, "new").has_value());
  EXPECT_THAT(synced, ElementsAre("file old", "folder new"));
}

TEST_F(AtomicFileTest, AFileThatCannotBeSyncedReplacesNothing) {
  put(path_, "old");
  on_fsync = [](int) {
    errno = EIO;
    return -1;
  };
  const Status written = write_file_atomically(path_, "new");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message, "cannot write " + path_.native() + ": Input/output error");
  EXPECT_EQ(read_file(path_), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, NamesOfAnyLengthAreWritten) {
  const fs::path longest = folder_ / std::string(255, 'n');
  ASSERT_TRUE(write_file_atomically(longest, "x").has_value());
  EXPECT_EQ(read_file(longest), "x");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(AtomicFileTest, NamesWithoutAFolderUseTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_TRUE(write_file_atomically("a", "x").has_value());
  fs::current_path(before);
  EXPECT_EQ(read_file(path_), "x");
}

TEST_F(AtomicFileTest, ErrorsNameThePathAndTheReason) {
  const auto message_of = [](const fs::path& path) {
    const Result<AtomicFile> file = AtomicFile::create(path);
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(message_of(folder_), "cannot write " + folder_.native() + ": Is a directory");
  EXPECT_EQ(message_of(folder_ / "none" / "a"),
            "cannot write " + (folder_ / "none" / "a").native() + ": No such file or directory");
  EXPECT_THAT(message_of(""), StartsWith("cannot write : No such file"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(AtomicFileTest, WhetherAFileCanBeWrittenIsKnownBefore) {
  const fs::path existing = folder_ / "b";
  put(existing, "old");
  fs::create_symlink(existing, folder_ / "link");
  for (const fs::path& path : {path_, existing, folder_ / "link", fs::path("/dev/null")}) {
    EXPECT_TRUE(check_writable(path).has_value()) << path;
  }
  EXPECT_EQ(read_file(existing), "old");
  EXPECT_THAT(names(), ElementsAre("b", "link"));
  EXPECT_FALSE(check_writable("").has_value());
  EXPECT_THAT(check_writable(folder_ / "none" / "a").error().message, HasSubstr("No such file"));
  EXPECT_THAT(check_writable(folder_).error().message, HasSubstr("it is a folder"));
}

// A file that is written directly is neither truncated nor, like a pipe without a reader, waited
// for.
TEST_F(AtomicFileTest, CheckingAnOpenFileOrAPipeLeavesItAsItIs) {
  put(path_, "old");
  const Descriptor open(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(check_writable(fmt::format("/dev/fd/{}", open.get())).has_value());
  EXPECT_EQ(read_file(path_), "old");
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(check_writable(pipe).has_value());
}

}  // namespace
}  // namespace tilewright
