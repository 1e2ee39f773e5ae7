// For tests: runs the program in this process and captures its output.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/run.h"

namespace tilewright::cli {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

inline Outcome tilewright(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(arguments, out, err);
  return {code, out.str(), err.str()};
}

// Prepends the verb.
inline Outcome tilewright(const std::string& verb, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), verb);
  return tilewright(arguments);
}

}  // namespace tilewright::cli
