#include "cli/progress_printer.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace tilewright::cli {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kLineSeconds = 5;

// One column less than the terminal: a wrapped line cannot be overwritten.
size_t widest_line() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 200;
  return size.ws_col - size_t{1};
}

}  // namespace

bool reaches_terminal(const std::ostream& stream) {
  return &stream == &std::cerr && ::isatty(STDERR_FILENO) == 1;
}

void ProgressPrinter::print(std::string_view line, double now_s) {
  next_s_ = now_s + (terminal_ ? kTerminalSeconds : kLineSeconds);
  if (!terminal_) {
    out_ << line << "\n" << std::flush;
    return;
  }
  const size_t widest = widest_line();
  line = line.substr(0, widest);
  out_ << fmt::format("\r{:<{}}", line, std::min(width_, widest)) << std::flush;
  width_ = line.size();
  open_ = true;
}

void ProgressPrinter::finish() {
  if (open_) out_ << "\n" << std::flush;
  open_ = false;
  width_ = 0;
}

}  // namespace tilewright::cli
