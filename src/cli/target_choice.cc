#include "cli/target_choice.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "codegen/back_ends/back_ends.h"
#include "target/machine.h"

namespace tilewright::cli {

void declare_target_flags(CLI::App& app, const std::string& default_text, TargetChoice* choice) {
  app.add_option("--target", choice->target, "what to make code for; this machine if not given");
  app.add_option("--threads", choice->threads,
                 "threads, where --target does not say them (default: " + default_text + ")")
      ->check(CLI::Range(1, 1024));
}

Result<Target> target_of(const TargetChoice& choice, int default_threads) {
  const int threads = choice.threads > 0 ? choice.threads : default_threads;
  if (choice.target.empty()) return host_target(threads);
  const Target target = TRY(parse_target(choice.target));
  if (choice.target.find("threads=") == std::string::npos) return target.with_threads(threads);
  if (choice.threads > 0) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("--target {} says the threads already; leave --threads out", choice.target));
  }
  return target;
}

Result<Target> compiled_target_of(const TargetChoice& choice) {
  Result<Target> target = target_of(choice, static_cast<int>(detect_machine().cpus.size()));
  if (!target) return target;
  if (const Status possible = codegen::check_target(*target); !possible) {
    return std::unexpected(possible.error());
  }
  return target;
}

Result<Target> measured_target_of(const TargetChoice& choice) {
  Result<Target> target = target_of(choice, static_cast<int>(detect_machine().cpus.size()));
  if (!target) return target;
  if (const Status runs = check_runs_here(*target); !runs) {
    return fail(ErrorKind::Unsupported,
                "what is made for that target cannot be measured here: " + runs.error().message);
  }
  return target;
}

}  // namespace tilewright::cli
