#include "base/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "base/system_error.h"

namespace tilewright {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::make(const fs::path& parent, std::string_view prefix) {
  std::string name = (parent / fmt::format("{}XXXXXX", prefix)).native();
  if (::mkdtemp(name.data()) == nullptr) {
    const int code = errno;
    return system_error(
        fmt::format("{}: a folder cannot be made there", parent.empty() ? "." : parent.native()),
        code);
  }
  return TemporaryFolder(std::move(name));
}

TemporaryFolder::TemporaryFolder(fs::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<TemporaryFolder> make_scratch_folder(std::string_view prefix) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (!error) return TemporaryFolder::make(parent, prefix);
  return fail(ErrorKind::Io, "there is no folder for temporary files; set TMPDIR to one");
}

}  // namespace tilewright
