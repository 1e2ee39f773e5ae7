// `tilewright model show FILE`: the trees, the training data and the features of a cost model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/cost_model.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string file;
  size_t features = 20;
};

std::string to_text(const app::CostModelSummary& summary, size_t features) {
  const cost::ModelFile& file = summary.file;
  const std::vector<app::FeatureShare>& importance = summary.importance;
  std::string text = fmt::format(
      "objective   {}\ntrees       {} of depth {} at most, {} leaves\n"
      "encoding    {} version {}, {} of {} columns used\n"
      "trained on  {} programs ({} failed) of {}, {} rows\n",
      summary.objective, file.forest.trees.size(), summary.depth, summary.leaves, file.encoding,
      file.encoding_version, importance.size(), file.forest.width, file.programs, file.failures,
      counted(file.groups, "task"), file.rows);
  const cost::Quality& quality = file.quality;
  if (quality.programs == 0) {
    text += "held out    nothing: too few programs\n";
  } else {
    text += fmt::format(
        "held out    {} programs: rank correlation {:.3f}, pairs in order {:.1f} %, top-1 {:.2f}, "
        "top-5 {:.2f}\n",
        quality.programs, quality.rank_correlation, 100 * quality.pairwise_accuracy, quality.top1,
        quality.top5);
  }
  text += fmt::format("\n{:>8}{:>8}  {}\n", "gain %", "splits", "feature");
  for (size_t i = 0; i < std::min(features, importance.size()); ++i) {
    text +=
        fmt::format("{:>8.2f}{:>8}  {}{}{}\n", 100 * importance[i].share, importance[i].splits,
                    importance[i].name, importance[i].what.empty() ? "" : ": ", importance[i].what);
  }
  return text;
}

Json to_json(const app::CostModelSummary& summary) {
  const cost::ModelFile& file = summary.file;
  Json importance = Json::array();
  for (const app::FeatureShare& one : summary.importance) {
    importance.push_back(
        {{"feature", one.name}, {"gain_share", one.share}, {"splits", one.splits}});
  }
  return {{"objective", summary.objective},
          {"encoding", file.encoding},
          {"encoding_version", file.encoding_version},
          {"trees", file.forest.trees.size()},
          {"depth", summary.depth},
          {"nodes", summary.nodes},
          {"leaves", summary.leaves},
          {"programs", file.programs},
          {"failures", file.failures},
          {"groups", file.groups},
          {"rows", file.rows},
          {"held_out_quality", app::quality_json(file.quality)},
          {"importance", std::move(importance)}};
}

}  // namespace

Action declare_model(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.require_subcommand(1);
  CLI::App* const show =
      app.add_subcommand("show", "print the trees, their training data and the features they use");
  show->add_option("FILE", options->file, "a model that `tune --model FILE` saved")->required();
  show->add_option("--features", options->features, "number of features to list")
      ->capture_default_str();
  return [options](const Context& context) -> Result<ExitCode> {
    const app::CostModelSummary summary = TRY(app::summarize_cost_model(options->file));
    print(context, to_text(summary, options->features), to_json(summary));
    return ExitCode::Done;
  };
}

}  // namespace tilewright::cli
