#include "cli/target_choice.h"

#include <CLI/CLI.hpp>

namespace tilewright::cli {

void declare_target_flags(CLI::App& app, const std::string& default_text, TargetChoice* choice) {
  app.add_option("--target", choice->target, "what to make code for; this machine if not given");
  app.add_option("--threads", choice->threads,
                 "threads of this machine (default: " + default_text + ")")
      ->check(CLI::Range(1, 1024));
}

Result<Target> target_of(const TargetChoice& choice, int default_threads) {
  if (choice.target.empty()) {
    return host_target(choice.threads > 0 ? choice.threads : default_threads);
  }
  if (choice.threads > 0) {
    return fail(ErrorKind::BadInput,
                "--threads is for this machine; with --target the threads are part of its text");
  }
  return parse_target(choice.target);
}

}  // namespace tilewright::cli
