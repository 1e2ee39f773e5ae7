// `tilewright space WHAT`: the sketches that a search of the workload would fill, with their holes
// and how many programs that makes. Nothing is compiled.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/space_report.h"
#include "cli/target_choice.h"
#include "cli/verb.h"
#include "space/space.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string what;
  TargetChoice target;
  std::vector<std::string> off;
  bool list = false;
  bool all = false;
};

Result<ExitCode> run_space(const Context& context, const Options& options) {
  Result<Target> target =
      target_of(options.target, std::max(1, static_cast<int>(detect_machine().cpus.size())));
  if (!target) return std::unexpected(target.error());
  if (options.list) print(context, rules_text(*target), rules_json(*target));
  if (options.what.empty()) {
    if (options.list) return ExitCode::Done;
    return fail(ErrorKind::BadInput,
                "space: say of which operator, such as C2D2, or --list for rules and extensions");
  }
  Result<Workload> workload = parse_workload(options.what);
  if (!workload) return std::unexpected(workload.error());
  const Task task{*workload, *target};
  const Result<space::Space> made = space::Space::make(task, {.off = options.off});
  if (!made) return std::unexpected(made.error());
  for (size_t k = 0; k < made->sketches().size(); ++k) {
    const schedule::Sketch& sketch = made->sketches()[k];
    print(context, sketch_text(sketch, k, options.all), sketch_json(sketch, k, options.all));
  }
  print(context,
        fmt::format("{} for {}: {} sketches, {} programs (legal or not)\n", task.workload.text,
                    print_target(task.target), made->sketches().size(), count_text(made->size())),
        {{"workload", task.workload.text},
         {"target", print_target(task.target)},
         {"sketches", made->sketches().size()},
         {"size", made->size()}});
  return ExitCode::Done;
}

}  // namespace

Action declare_space(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite");
  declare_target_flags(app, "all cpus", &options->target);
  app.add_option("--off", options->off, "rules and extensions to leave out, by name")
      ->delimiter(',');
  app.add_flag("--all", options->all, "print all choices of each hole, not only some");
  app.add_flag("--list", options->list, "print rules and extensions first");
  return [options](const Context& context) { return run_space(context, *options); };
}

}  // namespace tilewright::cli
