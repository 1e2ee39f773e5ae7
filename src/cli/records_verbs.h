// The parts of `tilewright records`, each declared like a verb (cli/verb.h).
#pragma once

#include "cli/verb.h"

namespace tilewright::cli {

Action declare_records_ls(CLI::App& app);
Action declare_records_show(CLI::App& app);
Action declare_records_best(CLI::App& app);
Action declare_records_export(CLI::App& app);
Action declare_records_import(CLI::App& app);
Action declare_records_merge(CLI::App& app);
Action declare_records_check(CLI::App& app);

}  // namespace tilewright::cli
