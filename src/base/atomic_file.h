// AtomicFile: a file that is written in parts and replaces the existing one when it is finished.
// Readers see the old bytes or the new ones, also after a crash. A file that is not finished leaves
// nothing behind.
//
//   AtomicFile file = TRY(AtomicFile::create("lines.ndjson"));
//   file.append(lines);
//   TRY(file.finish());
//
// The parts go to a temporary file in the same folder, with a random name and opened exclusively;
// finish syncs it to disk, renames it and syncs the folder. The folder must exist. A replaced file
// keeps its permissions; a new file gets those of the umask. A symbolic link is followed: the file
// that it names is replaced. A target that is not a regular file, such as a device or a pipe, is
// written directly, and so is an open file, such as /dev/stdout. Movable; used by one thread at a
// time. Files may be written by several threads and processes at once: the last one that is
// finished wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace tilewright {

class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  // An error is stored; close and finish return it.
  void append(std::string_view text);
  void append(std::span<const std::byte> bytes);
  bool failed() const { return error_ != 0; }
  uint64_t size() const { return size_; }  // bytes appended so far

  Status close();   // all parts are on disk, so finish will most likely succeed
  Status finish();  // replaces the file

 private:
  AtomicFile() = default;

  std::filesystem::path path_;       // as the caller named it, for messages
  std::filesystem::path target_;     // to be replaced: path_ with its symbolic links resolved
  std::filesystem::path temporary_;  // empty: written directly, finished or moved from
  Descriptor file_;
  int error_ = 0;  // errno of the first error
  uint64_t size_ = 0;
};

// An error if AtomicFile could not write this file. Nothing stays written: call it before long
// work.
Status check_writable(const std::filesystem::path& path);

}  // namespace tilewright
