#include "cli/model_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/flag_checks.h"
#include "cli/records_common.h"

namespace tilewright::cli {

void declare_allow_flag(CLI::App& app, const std::string& help, std::vector<std::string>* allow) {
  app.add_option("--allow", *allow, help)->delimiter(',')->allow_extra_args(false);
}

void declare_model_flags(CLI::App& app, app::ModelChoice* choice) {
  app.add_option("--input-shapes", choice->input_shapes,
                 "shapes of inputs with open dimensions: x:[1,3,224,224];y:[1]");
  app.add_option("--passes-off", choice->passes_off,
                 "turn off passes over the graph: NAME[,NAME] (docs/graph.md)")
      ->delimiter(',')
      ->allow_extra_args(false);
  declare_allow_flag(app,
                     "permit changes of results: winograd (rounding), denormals (kept, not zero) "
                     "(docs/models.md)",
                     &choice->allow);
}

std::string words_of(const app::ModelChoice& choice) {
  std::string words = choice.what;
  if (!choice.input_shapes.empty()) {
    words += fmt::format(" --input-shapes \"{}\"", choice.input_shapes);
  }
  if (!choice.passes_off.empty()) {
    words += fmt::format(" --passes-off {}", fmt::join(choice.passes_off, ","));
  }
  if (!choice.allow.empty()) words += fmt::format(" --allow {}", fmt::join(choice.allow, ","));
  return words;
}

Status check_model_flags(const CLI::App& app, const app::ModelChoice& choice,
                         const std::string& records, bool shapes_are_used) {
  if (!app::is_library(choice.what)) return check_named_records(app, records);
  constexpr std::string_view kWhy =
      "is not for a compiled model: that was decided when it was compiled";
  if (!shapes_are_used) TRY(refuse_flags(app, {"--input-shapes"}, kWhy));
  return refuse_flags(app, {"--target", "--records", "--passes-off", "--allow"}, kWhy);
}

}  // namespace tilewright::cli
