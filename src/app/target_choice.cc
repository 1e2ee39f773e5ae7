#include "app/target_choice.h"

#include <fmt/format.h>

#include "codegen/c/back_end.h"
#include "target/machine.h"

namespace tilewright::app {

Result<Target> target_of(const TargetChoice& choice, int default_threads) {
  if (choice.threads < 0 || choice.threads > kMaxThreads) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("the number of threads is 1 to {}, not {}", kMaxThreads, choice.threads),
        {{"threads", ""}});
  }
  const int threads = choice.threads > 0 ? choice.threads : default_threads;
  if (choice.target.empty()) return host_target(threads);
  const Target target = TRY(parse_target(choice.target));
  if (!target.runs_on_cpu()) {
    if (choice.threads == 0) return target;
    return fail(ErrorKind::BadInput,
                fmt::format("the number of threads is for CPUs; leave it out for the target {}",
                            choice.target),
                {{"threads", ""}});
  }
  if (choice.target.find("threads=") == std::string::npos) return target.with_threads(threads);
  if (choice.threads > 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("the target {} already sets the threads; omit the number of threads",
                            choice.target),
                {{"threads", ""}});
  }
  return target;
}

Result<Target> compiled_target_of(const TargetChoice& choice, const deploy::BackEndTables& tables) {
  Target target = TRY(target_of(choice, static_cast<int>(detect_machine().cpus.size())));
  TRY(codegen::check_target(target, tables.back_ends));
  return target;
}

Result<Target> source_target_of(const TargetChoice& choice, const deploy::BackEndTables& tables) {
  Target target = TRY(target_of(choice, static_cast<int>(detect_machine().cpus.size())));
  const auto row = codegen::text_row(codegen::kCSourceText, target, tables.back_ends);
  if (row) return target;
  TRY(codegen::check_target(target, tables.back_ends));  // says which targets there are
  return std::unexpected(row.error());
}

Result<Target> measured_target_of(const TargetChoice& choice, const deploy::BackEndTables& tables) {
  Target target = TRY(target_of(choice, static_cast<int>(detect_machine().cpus.size())));
  TRY(deploy::check_executable(target, tables));
  return target;
}

}  // namespace tilewright::app
