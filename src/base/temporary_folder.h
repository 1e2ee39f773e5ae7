// A new folder that is removed with its contents by the destructor. Movable, not copyable.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace tilewright {

class TemporaryFolder {
 public:
  // Makes the folder in `parent`, which must exist (empty: the working directory). Its name is
  // `prefix` and six random letters; only the user may read it.
  static Result<TemporaryFolder> make(const std::filesystem::path& parent, std::string_view prefix);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);
  std::filesystem::path path_;  // empty: moved from
};

// A folder in the system's temporary folder (TMPDIR, or /tmp).
Result<TemporaryFolder> make_scratch_folder(std::string_view prefix);

}  // namespace tilewright
