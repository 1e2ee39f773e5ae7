// LinePipeline: reads and parses the lines of an import on a separate thread, so that parsing
// overlaps with storing. Lines are returned in order, in batches. The number of batches in flight
// is bounded, and their memory is reused.
//
//   LinePipeline pipeline(reader_of_file(path, stop));
//   while (std::span<ParsedLine> batch = pipeline.next(); !batch.empty()) ...
//   return pipeline.status();
//
// Used by one thread. Destroying it early ends the reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/stop_token.h"
#include "record/line.h"

namespace tilewright::record {

struct ParsedLine {
  int64_t number = 0;  // starts at 1; empty lines are counted but not returned
  Line line;
  Hash128 id;       // attempts only
  std::string why;  // not empty: the reason why the line is malformed
};

// Fills a part of the memory. Returns the number of bytes; 0 at the end.
using ByteReader = std::function<Result<size_t>(char* to, size_t room)>;
// `path` may be a pipe. After a stop, reading is an error.
ByteReader reader_of_file(const std::filesystem::path& path, const StopToken& stop);
ByteReader reader_of_text(std::string_view text);  // `text` outlives the reading

class LinePipeline {
 public:
  explicit LinePipeline(ByteReader reader);
  ~LinePipeline();
  LinePipeline(const LinePipeline&) = delete;
  LinePipeline& operator=(const LinePipeline&) = delete;

  std::span<ParsedLine> next();  // empty at the end; valid until the next call
  Status status() const;         // after the end: whether everything could be read

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::record
