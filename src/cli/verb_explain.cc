// `tilewright explain ID`, `tilewright explain OPERATOR --trace FILE`: app::explain with flags.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/explain.h"
#include "base/json.h"
#include "cli/explain_report.h"
#include "cli/flag_checks.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {

Action declare_explain(CLI::App& app) {
  auto options = std::make_shared<app::ExplainOptions>();
  app.add_option("ID_OR_OPERATOR", options->what,
                 "the id of an attempt, or its first digits; with --trace an operator or a name "
                 "of the suite")
      ->required();
  app.add_option("--trace", options->trace_file,
                 "explain the schedule in this file, without a record");
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "with --trace: 1", &options->target);
  app.add_option("--seconds", options->seconds,
                 "measure the peak of this machine for N seconds; 0: skip (default: 0.4)")
      ->check(number_between(0, 60));
  return [options](const Context& context) -> Result<ExitCode> {
    const app::Explanation explanation = TRY(app::explain(*options));
    print(context, explanation_text(explanation), explanation_json(explanation));
    return ExitCode::Done;
  };
}

}  // namespace tilewright::cli
