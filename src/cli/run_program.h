// Another program: started, waited for, and what it wrote to its standard output.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace tilewright::cli {

struct EndedProgram {
  int status = 0;  // as waitpid has it; 0: it did what it should
  std::string out;
};

// words[0] is looked for as a shell does. It is killed after `limit_s`, and on Ctrl-C.
Result<EndedProgram> run_program(const std::vector<std::string>& words,
                                 double limit_s = std::numeric_limits<double>::infinity());

}  // namespace tilewright::cli
