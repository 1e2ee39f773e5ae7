// TemporaryFolder: a new folder that is removed, with its content, when its owner ends. Movable,
// not copyable.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace tilewright {

class TemporaryFolder {
 public:
  // In `parent`, which must exist (empty: the working folder). Its name is `prefix` and six random
  // letters; nobody but its owner may read it.
  static Result<TemporaryFolder> make(const std::filesystem::path& parent, std::string_view prefix);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);
  std::filesystem::path path_;  // empty: moved away
};

// One in the system's folder for temporary files (TMPDIR, or /tmp).
Result<TemporaryFolder> make_scratch_folder(std::string_view prefix);

}  // namespace tilewright
