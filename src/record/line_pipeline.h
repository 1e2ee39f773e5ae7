// LinePipeline: reads and parses the lines of an import on a thread of its own, so that parsing
// overlaps with storing. Lines come out in their order, in batches; a bounded number of batches is
// under way, and their memory is used again.
//
//   LinePipeline pipeline(reader_of_file(path));
//   while (std::span<ParsedLine> batch = pipeline.next(); !batch.empty()) ...
//   return pipeline.status();
//
// One thread calls it; the destructor may be reached early and then ends the reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/line.h"

namespace tilewright::record {

struct ParsedLine {
  int64_t number = 0;  // from 1; empty lines count but do not come
  Line line;
  Hash128 id;       // of an attempt
  std::string why;  // not empty: the line is malformed, and why
};

// Fills some of the memory; gives how much, 0 at the end.
using ByteReader = std::function<Result<size_t>(char* to, size_t room)>;
ByteReader reader_of_file(const std::filesystem::path& path);  // a pipe will do
ByteReader reader_of_text(std::string_view text);              // outlives the reading

class LinePipeline {
 public:
  explicit LinePipeline(ByteReader reader);
  ~LinePipeline();
  LinePipeline(const LinePipeline&) = delete;
  LinePipeline& operator=(const LinePipeline&) = delete;

  std::span<ParsedLine> next();  // empty at the end; valid until the next call
  Status status() const;         // after the end: whether all could be read

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::record
