// Runs another program: starts it, waits for it and collects its standard output.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"

namespace tilewright::app {

struct EndedProgram {
  int status = 0;  // as waitpid has it; 0: it did what it should
  std::string out;
};

// words[0] is looked up as a shell does. The program is killed after `limit_s`, and when a stop is
// requested.
Result<EndedProgram> run_program(const std::vector<std::string>& words, const StopToken& stop,
                                 double limit_s = std::numeric_limits<double>::infinity());

}  // namespace tilewright::app
