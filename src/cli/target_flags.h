// The flags --target and --threads of verbs that generate code.
#pragma once

#include <string>

#include "app/target_choice.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// `default_text` describes the default of --threads. `choice` outlives the parsing.
void declare_target_flags(CLI::App& app, const std::string& default_text,
                          app::TargetChoice* choice);

}  // namespace tilewright::cli
