// run_program: starts another program, waits for it and collects its standard output.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"

namespace tilewright::app {

struct EndedProgram {
  int status = 0;  // as returned by waitpid; 0: success
  std::string out;
};

// words[0] is looked up in PATH. The program is killed after `limit_s`, and when a stop is
// requested.
Result<EndedProgram> run_program(const std::vector<std::string>& words, const StopToken& stop,
                                 double limit_s = std::numeric_limits<double>::infinity());

}  // namespace tilewright::app
