// `tilewright space OPERATOR`: the sketches of the search space of a workload, with their holes and
// the number of programs. Nothing is compiled.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/operator_space.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/space_report.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string what;
  app::TargetChoice target;
  std::vector<std::string> off;
  bool list = false;
  bool all = false;
};

Result<ExitCode> run_space(const Context& context, const Options& options) {
  if (options.list) {
    const Target target = TRY(app::space_target_of(options.target));
    const app::SpaceParts parts = app::space_parts(target);
    print(context, rules_text(parts), rules_json(parts));
  }
  if (options.what.empty()) {
    if (options.list) return ExitCode::Done;
    return fail(ErrorKind::BadInput,
                "space: name an operator, such as C2D2, or use --list for rules and extensions");
  }
  const app::OperatorSpace space =
      TRY(app::operator_space(options.what, options.target, {.off = options.off}, options.all));
  for (size_t k = 0; k < space.sketches.size(); ++k) {
    print(context, sketch_text(space.sketches[k], k, options.all),
          sketch_json(space.sketches[k], k));
  }
  print(context,
        fmt::format("{} for {}: {}, {} programs (legal or not)\n", space.what, space.target,
                    counted(space.sketches.size(), "sketch", "sketches"), count_text(space.size)),
        {{"workload", space.what},
         {"target", space.target},
         {"sketches", space.sketches.size()},
         {"size", space.size}});
  return ExitCode::Done;
}

}  // namespace

Action declare_space(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("OPERATOR", options->what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite");
  declare_target_flags(app, "one per CPU", &options->target);
  app.add_option("--off", options->off, "turn off rules and extensions: NAME[,NAME]")
      ->delimiter(',');
  app.add_flag("--all", options->all, "print all choices of each hole, not only some");
  app.add_flag("--list", options->list, "print rules and extensions first");
  return [options](const Context& context) { return run_space(context, *options); };
}

}  // namespace tilewright::cli
