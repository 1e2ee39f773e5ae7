// run_program: starts another program, waits for it and collects its output.
//
//   run_program({"cc", "--version"}, {.limit_s = 10})
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"

namespace tilewright {

struct EndedProgram {
  int status = 0;  // as returned by waitpid; 0: success
  std::string out;
};

struct ProgramOptions {
  StopToken stop{};                                          // a request kills the program
  double limit_s = std::numeric_limits<double>::infinity();  // then the program is killed
  bool joins_errors = false;  // `out` includes standard error; otherwise that of the caller is used
};

// words[0] is looked up in PATH.
Result<EndedProgram> run_program(const std::vector<std::string>& words,
                                 const ProgramOptions& options = {});

}  // namespace tilewright
