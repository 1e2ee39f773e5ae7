// `tilewright graph MODEL -o graph.svg`: the kernels of a model with the nodes fused into each, the
// edges between them, and their recorded times.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>
#include <utility>

#include "base/counted.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/graph_svg.h"
#include "cli/graph_view.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Flags {
  app::ModelOptions options;
  std::string output;
};

Result<std::string> text_of(const app::GraphView& view, const std::string& ending) {
  if (ending == ".svg") return graph_svg(view);
  if (ending == ".txt") return graph_text(view);
  if (ending == ".json") return print_json(graph_json(view)) + "\n";
  return fail(ErrorKind::BadInput,
              fmt::format("-o: the name must end in .svg, .txt or .json, not '{}'", ending));
}

Result<ExitCode> run_graph(const Context& context, const Flags& flags) {
  const std::string ending = std::filesystem::path(flags.output).extension().string();
  if (!flags.output.empty()) TRY(text_of({}, ending));  // before any long work
  const Interrupt interrupt;
  Result<app::GraphView> viewed = app::view_model(flags.options, interrupt.token());
  if (!viewed && interrupt.requested()) return interrupted(context, "the model was not loaded");
  const app::GraphView view = TRY(std::move(viewed));
  if (flags.output.empty()) {
    print(context, graph_text(view), graph_json(view));
    return ExitCode::Done;
  }
  TRY(write_file_atomically(flags.output, TRY(text_of(view, ending))));
  print(context,
        fmt::format("{}: {} in {}, {}\n", flags.output, counted(view.nodes, "node"),
                    counted(view.steps, "step"), counted(view.kernels, "kernel")),
        {{"file", flags.output},
         {"nodes", view.nodes},
         {"steps", view.steps},
         {"kernels", view.kernels}});
  return ExitCode::Done;
}

}  // namespace

Action declare_graph(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("MODEL", flags->options.model.what, "a model, such as resnet50.onnx")->required();
  app.add_option("-o,--output", flags->output,
                 "the file to write: .svg, .txt or .json (default: text on standard output)");
  declare_model_flags(app, &flags->options.model);
  declare_read_records_flag(app, &flags->options.records);
  declare_target_flags(app, "one per CPU", &flags->options.target);
  return [flags, &app](const Context& context) -> Result<ExitCode> {
    TRY(check_named_records(app, flags->options.records));
    return run_graph(context, *flags);
  };
}

}  // namespace tilewright::cli
