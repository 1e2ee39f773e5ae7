// ProgressPrinter: one line that is overwritten on a terminal; otherwise plain lines every few
// seconds. Times are seconds of the caller's clock. Not thread-safe.
#pragma once

#include <iosfwd>
#include <string_view>

namespace tilewright::cli {

// True if `stream` is a terminal: only std::cerr can be.
bool reaches_terminal(const std::ostream& stream);

class ProgressPrinter {
 public:
  ProgressPrinter(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  bool is_due(double now_s) const { return now_s >= next_s_; }
  void print(std::string_view line, double now_s);
  void finish();  // ends the current line

 private:
  std::ostream& out_;
  bool terminal_;
  bool open_ = false;  // the cursor is at the end of a line
  size_t width_ = 0;   // of that line
  double next_s_ = 0;
};

}  // namespace tilewright::cli
