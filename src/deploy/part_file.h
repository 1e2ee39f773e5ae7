// PartFile: a file that is written in parts and replaces the existing one atomically when it is
// finished; otherwise nothing is left. For files that are too large to hold in memory twice.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::deploy {

class PartFile {
 public:
  static Result<PartFile> create(const std::filesystem::path& path);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) noexcept;
  ~PartFile();

  // An error is stored; close and finish return it.
  void append(std::string_view text);
  void append(std::span<const std::byte> bytes);
  Status close();   // all data is written, so finish will most likely succeed
  Status finish();  // renames it into place

 private:
  PartFile() = default;

  std::filesystem::path path_, temporary_;  // empty: renamed or moved from
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace tilewright::deploy
