#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tilewright {
namespace {

std::unexpected<Error> io_error(const char* doing, const std::filesystem::path& path, int code) {
  return fail(ErrorKind::Io, fmt::format("cannot {} {}: {}", doing, path.native(),
                                         std::generic_category().message(code)));
}

// Closes a file descriptor on destruction; call close() where its error matters.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 ? 0 : ::close(fd);
  }

 private:
  int fd_;
};

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// The permissions of the new file: those of the file it replaces, otherwise those of the umask.
mode_t wanted_mode(const std::filesystem::path& path) {
  struct stat old = {};
  if (::stat(path.c_str(), &old) == 0) return old.st_mode & 07777u;
  return 0666;  // open() applies the umask
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, int64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return io_error("open", path, errno);
  std::string bytes;
  struct stat info = {};
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0 && info.st_size <= max_bytes) {
    bytes.reserve(static_cast<size_t>(info.st_size) + 1);
  }
  char block[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("read", path, errno);
    if (count == 0) return bytes;
    bytes.append(block, static_cast<size_t>(count));
    if (static_cast<int64_t>(bytes.size()) > max_bytes) {
      return fail(ErrorKind::Io, fmt::format("cannot read {}: it has more than {} bytes",
                                             path.native(), max_bytes));
    }
  }
}

Result<uint64_t> size_of_file(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return io_error("read the size of", path, error.value());
  return bytes;
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const mode_t mode = wanted_mode(path);
  std::filesystem::path temporary;
  int fd = -1;
  for (int attempt = 0; fd < 0 && attempt < 100; ++attempt) {
    temporary = path;
    temporary += fmt::format(".{}-{}.tmp", ::getpid(), attempt);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) return io_error("create a file to replace", path, errno);

  Descriptor file(fd);
  int error = write_all(fd, bytes);
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (file.close() != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return io_error("write", path, error);
  }
  return {};
}

}  // namespace tilewright
