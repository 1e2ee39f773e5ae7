// ProgressPrinter: one line that is written over on a terminal, plain lines every few seconds
// elsewhere. Time is seconds of the caller's clock. Not to be shared between threads.
#pragma once

#include <iosfwd>
#include <string_view>

namespace tilewright::cli {

// Whether text written to `stream` reaches a terminal: only std::cerr can.
bool reaches_terminal(const std::ostream& stream);

class ProgressPrinter {
 public:
  ProgressPrinter(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  bool is_due(double now_s) const { return now_s >= next_s_; }
  void print(std::string_view line, double now_s);
  void finish();  // leaves what stands there, on a line of its own

 private:
  std::ostream& out_;
  bool terminal_;
  bool open_ = false;  // the cursor stands behind a line
  size_t width_ = 0;   // of that line
  double next_s_ = 0;
};

}  // namespace tilewright::cli
