#include "codegen/llvm/crash_report.h"

#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/Signals.h>

#include <csignal>

namespace tilewright::codegen {
namespace {

void report_and_end(int signal) {
  llvm::sys::RunSignalHandlers();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void report_pass_on_crash() {
  llvm::setBugReportMsg("");  // no request to report to LLVM
  llvm::EnablePrettyStackTrace();
}

void report_pass_on_signal(int signal) { std::signal(signal, report_and_end); }

}  // namespace tilewright::codegen
