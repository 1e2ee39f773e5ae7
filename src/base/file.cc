#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "base/system_error.h"

namespace tilewright {
namespace {

std::unexpected<Error> io_error(const char* doing, const std::filesystem::path& path, int code) {
  return system_error(fmt::format("cannot {} {}", doing, path.native()), code);
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, int64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return io_error("open", path, errno);
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
  AtomicFile file = TRY(AtomicFile::create(path));
  file.append(bytes);
  return file.finish();
}

}  // namespace tilewright
