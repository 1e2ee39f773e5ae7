// A file mapped into memory, read-only. It stays mapped while a pointer to it exists.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace tilewright::onnx {

class MappedFile {
 public:
  // Fails for anything but a regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace tilewright::onnx
