// For processes in which the compiler may crash: on a fatal signal, LLVM writes the current pass
// and function to stderr. The process then dies of that signal.
#pragma once

namespace tilewright::codegen {

void report_pass_on_crash();
// The same for a signal that LLVM does not handle, such as that of a timer.
void report_pass_on_signal(int signal);

}  // namespace tilewright::codegen
