// Text to lines: the reading half of record/line.h, with simdjson's on-demand parser, which
// converts only the requested members. parse_json validates text that is stored unread.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "record/attempt.h"
#include "record/line.h"

namespace tilewright::record {

// Reads lines; keeps its buffers between them. Not thread-safe.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // At least kPadding readable bytes must follow the line; their content does not matter. An error
  // names the problem. The memory of an Attempt in `out` is reused.
  static constexpr size_t kPadding = 64;
  Status parse(std::string_view line, Line* out);
  const Hash128& attempt_id() const;  // of the attempt that was parsed last

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Result<Line> parse_line(std::string_view line);  // copies the line to add the padding

// Whether an attempt can be written and read back: numbers are finite, times are not negative,
// `extra` is as parse_line makes it.
Status check_attempt(const Attempt& attempt);

}  // namespace tilewright::record
