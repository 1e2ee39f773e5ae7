#include "cli/target_flags.h"

#include <CLI/CLI.hpp>

#include "app/target_examples.h"
#include "cli/flag_checks.h"

namespace tilewright::cli {

void declare_target_flags(CLI::App& app, const std::string& default_text,
                          app::TargetChoice* choice) {
  app.add_option("--target", choice->target,
                 "the target to generate code for, such as " + app::target_examples() +
                     "; docs/deployment.md lists the forms (default: this machine)")
      ->check(not_empty());
  app.add_option("--threads", choice->threads,
                 "number of threads, unless --target names it (default: " + default_text + ")")
      ->check(whole_number_between(1, kMaxThreads));
}

}  // namespace tilewright::cli
