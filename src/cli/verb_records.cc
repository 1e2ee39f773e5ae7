// `tilewright records PART`: operations on the store. Each part has separate flags.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/records_verbs.h"

namespace tilewright::cli {
namespace {

constexpr std::array<Verb, 7> kParts = {{
    {"ls", "list the tasks with verdicts and best times, or the attempts of one task",
     declare_records_ls},
    {"show", "show one attempt, or the attempts of one task", declare_records_show},
    {"best", "print the fastest schedules of a task", declare_records_best},
    {"export", "write everything as lines of JSON", declare_records_export},
    {"import", "read lines of JSON into the store, or traces from a log of Ansor",
     declare_records_import},
    {"merge", "add other stores to this one", declare_records_merge},
    {"check", "verify the integrity of the store", declare_records_check},
}};

struct Declared {
  CLI::App* app;
  Action action;
};

}  // namespace

Action declare_records(CLI::App& app) {
  app.require_subcommand(1);
  auto parts = std::make_shared<std::vector<Declared>>();
  for (const Verb& part : kParts) {
    CLI::App* sub = app.add_subcommand(std::string(part.name), std::string(part.summary));
    parts->push_back({sub, part.declare(*sub)});
  }
  return [parts](const Context& context) -> Result<ExitCode> {
    for (const Declared& part : *parts) {
      if (part.app->parsed()) return part.action(context);
    }
    CHECK(false, "a part was required");
    return ExitCode::BadUse;
  };
}

}  // namespace tilewright::cli
