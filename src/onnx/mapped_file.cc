#include "onnx/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/system_error.h"

namespace tilewright::onnx {
namespace {

std::unexpected<Error> unreadable(const std::filesystem::path& path, int code) {
  return system_error(fmt::format("cannot read {}", path.string()), code);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return unreadable(path, errno);
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return unreadable(path, errno);
  if (!S_ISREG(about.st_mode)) {
    return fail(ErrorKind::Io, fmt::format("cannot read {}: not a regular file", path.string()));
  }
  const auto size = static_cast<size_t>(about.st_size);
  const std::byte* data = nullptr;
  if (size != 0) {
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at == MAP_FAILED) return unreadable(path, errno);
    data = static_cast<const std::byte*>(at);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile({data, size}));
}

MappedFile::~MappedFile() {
  // NOLINTNEXTLINE(*-const-cast): munmap takes the pointer of mmap
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tilewright::onnx
