#include "cli/target_flags.h"

#include <CLI/CLI.hpp>

namespace tilewright::cli {

void declare_target_flags(CLI::App& app, const std::string& default_text,
                          app::TargetChoice* choice) {
  app.add_option("--target", choice->target, "what to make code for; this machine if not given");
  app.add_option("--threads", choice->threads,
                 "threads, where --target does not say them (default: " + default_text + ")")
      ->check(CLI::Range(1, 1024));
}

}  // namespace tilewright::cli
