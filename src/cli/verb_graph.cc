// `tilewright graph MODEL -o graph.svg`: which nodes of a model became which kernel, who reads from
// whom, and how long each takes where the records know.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "cli/graph_view.h"
#include "cli/model_choice.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelChoice model;
  TargetChoice target;
  std::string records = kDefaultRecords;
  std::string output;
};

Result<std::string> text_of(const GraphView& view, const std::string& ending) {
  if (ending == ".svg") return graph_svg(view);
  if (ending == ".txt") return graph_text(view);
  if (ending == ".json") return print_json(graph_json(view)) + "\n";
  return fail(ErrorKind::BadInput,
              fmt::format("-o: the name ends in .svg, .txt or .json, not '{}'", ending));
}

Result<ExitCode> run_graph(const Context& context, const Options& options) {
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (const auto known = text_of({}, ending); !options.output.empty() && !known) {
    return std::unexpected(known.error());
  }
  const Result<Target> target = compiled_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  const Result<ChosenModel> chosen = choose_model(options.model, *target, options.records);
  if (!chosen) return std::unexpected(chosen.error());
  const auto& [plan, choices] = *chosen;
  const GraphView view =
      view_of(plan, choices, *target, std::filesystem::path(options.model.what).filename());
  if (options.output.empty()) {
    print(context, graph_text(view), graph_json(view));
    return ExitCode::Done;
  }
  const Status written = write_file_atomically(options.output, *text_of(view, ending));
  if (!written) return std::unexpected(written.error());
  const size_t kernels = plan.partition.kernels.size(), groups = plan.partition.groups.size();
  print(context,
        fmt::format("{}: {} nodes in {} steps, {} kernels\n", options.output,
                    plan.graph.nodes().size(), groups, kernels),
        {{"file", options.output},
         {"nodes", plan.graph.nodes().size()},
         {"steps", groups},
         {"kernels", kernels}});
  return ExitCode::Done;
}

}  // namespace

Action declare_graph(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->model.what, "a model, such as resnet50.onnx")->required();
  app.add_option("-o,--output", options->output,
                 "a file .svg, .txt or .json (default: as text to the output)");
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    const Status named = check_named_records(app, options->records);
    if (!named) return std::unexpected(named.error());
    return run_graph(context, *options);
  };
}

}  // namespace tilewright::cli
