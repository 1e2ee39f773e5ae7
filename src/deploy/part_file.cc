#include "deploy/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tilewright::deploy {
namespace {

std::unexpected<Error> io_error(const std::filesystem::path& path, int code) {
  return fail(ErrorKind::Io,
              fmt::format("cannot write {}: {}", path.string(), std::strerror(code)));
}

}  // namespace

Result<PartFile> PartFile::create(const std::filesystem::path& path) {
  PartFile file;
  file.path_ = path;
  file.temporary_ = fmt::format("{}.{}.part", path.string(), getpid());
  file.fd_ = open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return io_error(path, errno);
  return file;
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      error_(other.error_) {}

PartFile& PartFile::operator=(PartFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  return *this;
}

PartFile::~PartFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void PartFile::append(std::string_view text) { append(std::as_bytes(std::span(text))); }

void PartFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty() && error_ == 0) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

Status PartFile::close() {
  const int closed = fd_ >= 0 ? ::close(std::exchange(fd_, -1)) : 0;
  if (error_ == 0 && closed != 0) error_ = errno;
  std::error_code ignored;
  if (error_ == 0 && std::filesystem::is_directory(path_, ignored)) error_ = EISDIR;
  return error_ == 0 ? Status{} : io_error(path_, error_);
}

Status PartFile::finish() {
  TRY(close());
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return io_error(path_, errno);
  temporary_.clear();
  return {};
}

}  // namespace tilewright::deploy
