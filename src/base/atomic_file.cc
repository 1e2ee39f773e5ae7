#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/random_id.h"
#include "base/system_error.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;       // as Linux follows
constexpr size_t kNameBytes = 200;  // of the target's name in the temporary's: at most 255 in all
constexpr mode_t kPermissions = 0777;

std::unexpected<Error> io_error(const fs::path& path, int code) {
  return system_error(fmt::format("cannot write {}", path.native()), code);
}

// The links in /proc name open files, such as /dev/stdout, and not paths.
bool is_in_proc(const fs::path& link) {
  struct statfs info = {};
  return ::statfs(link.parent_path().c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

// Follows symbolic links at the end of the path, also to a file that does not exist. Empty: the
// path names an open file.
fs::path resolve_links(const fs::path& path) {
  fs::path at = path;
  for (int k = 0; k < kMaxLinks; ++k) {
    std::error_code error;
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    if (is_in_proc(at)) return {};
    at = at.parent_path() / next;
  }
  return at;
}

int sync(const Descriptor& file) {
  while (::fsync(file.get()) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// A rename is on disk when its folder is. Some file systems cannot sync folders (EINVAL), and a
// folder may be writable but not readable (EACCES).
int sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return errno == EACCES ? 0 : errno;
  const int error = sync(opened);
  return error == EINVAL ? 0 : error;
}

}  // namespace

Status check_writable(const fs::path& path) {
  struct stat old = {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    return fail(ErrorKind::Io, fmt::format("cannot write {}: it is a folder", path.native()));
  }
  if (exists && (!S_ISREG(old.st_mode) || resolve_links(path).empty())) {  // written directly
    return ::access(path.c_str(), W_OK) == 0 ? Status() : io_error(path, errno);
  }
  TRY(AtomicFile::create(path));  // removed again
  return {};
}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  AtomicFile file;
  file.path_ = path;
  struct stat old = {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (path.empty() || (!exists && errno != ENOENT)) return io_error(path, errno);
  if (exists && S_ISDIR(old.st_mode)) return io_error(path, EISDIR);
  file.target_ = resolve_links(path);
  if (exists && (!S_ISREG(old.st_mode) || file.target_.empty())) {
    file.file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
    if (!file.file_) return io_error(path, errno);
    return file;
  }
  const mode_t mode = exists ? old.st_mode & kPermissions : 0666;  // open() applies the umask
  const fs::path temporary =
      file.target_.parent_path() /
      fmt::format("{}.{}.tmp", file.target_.filename().native().substr(0, kNameBytes),
                  random_id().hex());
  file.file_ = Descriptor(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.file_) return io_error(path, errno);
  file.temporary_ = temporary;
  struct stat made = {};
  if (exists && ::fstat(file.file_.get(), &made) == 0 && (made.st_mode & kPermissions) != mode &&
      ::fchmod(file.file_.get(), mode) != 0) {
    return io_error(path, errno);
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      error_(other.error_),
      size_(other.size_) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  std::swap(error_, other.error_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::string_view text) { append(std::as_bytes(std::span(text))); }

void AtomicFile::append(std::span<const std::byte> bytes) {
  if (error_ != 0) return;
  if (!write_all(file_, bytes)) error_ = errno;
  size_ += bytes.size();
}

Status AtomicFile::close() {
  if (error_ == 0 && file_ && !temporary_.empty()) error_ = sync(file_);
  if (file_.close() != 0 && error_ == 0) error_ = errno;
  return error_ == 0 ? Status() : io_error(path_, error_);
}

Status AtomicFile::finish() {
  TRY(close());
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return io_error(path_, errno);
  temporary_.clear();
  const int error = sync_folder_of(target_);
  return error == 0 ? Status() : io_error(path_, error);
}

}  // namespace tilewright
