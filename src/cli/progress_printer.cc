#include "cli/progress_printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace tilewright::cli {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kLineSeconds = 5;

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
  out_ << fmt::format("\r{:<{}}", line, width_) << std::flush;
  width_ = line.size();
  open_ = true;
}

void ProgressPrinter::finish() {
  if (open_) out_ << "\n" << std::flush;
  open_ = false;
  width_ = 0;
}

}  // namespace tilewright::cli
