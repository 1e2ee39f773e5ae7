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

  // An error is kept; close and finish return it.
  void append(std::string_view text);
  void append(std::span<const std::byte> bytes);
  Status close();   // all is written, and what finish does will most likely succeed
  Status finish();  // gives it its name

 private:
  PartFile() = default;

  std::filesystem::path path_, temporary_;  // empty: it has its name, or was moved away
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace tilewright::deploy
