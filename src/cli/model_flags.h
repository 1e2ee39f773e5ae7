// The flags that select a model and how it is read, and their checks.
#pragma once

#include <string>
#include <vector>

#include "app/model_choice.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// --allow: names of float permissions (app/allowed.h).
void declare_allow_flag(CLI::App& app, const std::string& help, std::vector<std::string>* allow);

// Declares --input-shapes, --passes-off and --allow. `choice` outlives the parsing.
void declare_model_flags(CLI::App& app, app::ModelChoice* choice);

// `what` and those flags, as typed on the command line.
std::string words_of(const app::ModelChoice& choice);

// An error for flags that do not apply to a compiled model, and for a --records store that does not
// exist. `shapes_are_used`: --input-shapes has another use in this verb.
Status check_model_flags(const CLI::App& app, const app::ModelChoice& choice,
                         const std::string& records, bool shapes_are_used);

}  // namespace tilewright::cli
