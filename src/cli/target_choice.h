// The flags --target and --threads of verbs that make code: for a target by its text, or for this
// machine with so many threads.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

struct TargetChoice {
  std::string target;  // empty: this machine
  int threads = 0;     // 0: not said
};

// `default_text` says what happens without --threads. `choice` outlives the parsing.
void declare_target_flags(CLI::App& app, const std::string& default_text, TargetChoice* choice);

Result<Target> target_of(const TargetChoice& choice, int default_threads);

// Of verbs that make code and do not run it: one thread for each cpu of this machine where nothing
// is said. Any target that kernels can be made for.
Result<Target> compiled_target_of(const TargetChoice& choice);

// Of verbs that measure: one thread for each cpu where nothing is said, and what cannot run here is
// refused.
Result<Target> measured_target_of(const TargetChoice& choice);

}  // namespace tilewright::cli
