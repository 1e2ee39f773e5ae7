// PartFile: a file written part by part, which replaces the old one as a whole when it is finished;
// if it is not, nothing is left. For files that are larger than one wants in memory twice.
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

  // An error is kept; written and finish return it.
  void append(std::string_view text);
  void append(std::span<const std::byte> bytes);
  Status written() const;
  Status finish();

 private:
  PartFile() = default;

  std::filesystem::path path_, temporary_;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace tilewright::deploy
