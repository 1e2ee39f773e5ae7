// For processes in which a compiler may die: on a fatal signal LLVM writes to stderr which of its
// passes ran on which function. The process then ends by that signal, as it would have.
#pragma once

namespace tilewright::codegen {

void report_pass_on_crash();
// The same for a signal that LLVM leaves alone, such as that of a timer.
void report_pass_on_signal(int signal);

}  // namespace tilewright::codegen
