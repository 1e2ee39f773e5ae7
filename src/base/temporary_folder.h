// A new folder that goes, with all that is in it, when its owner does. Movable, not copyable;
// nothing here reads the environment.
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

}  // namespace tilewright
