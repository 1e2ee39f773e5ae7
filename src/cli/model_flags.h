// The flags that say which model is meant and how it is read, and checks of them.
#pragma once

#include <string>

#include "app/model_choice.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// The flags --input-shapes, --passes-off and --allow. `choice` outlives the parsing.
void declare_model_flags(CLI::App& app, app::ModelChoice* choice);

// An error for flags that mean nothing for a compiled model, and where --records names a store that
// does not exist. `shapes_are_used`: --input-shapes is for something else than the model.
Status check_model_flags(const CLI::App& app, const app::ModelChoice& choice,
                         const std::string& records, bool shapes_are_used);

}  // namespace tilewright::cli
