// `tilewright records PART`: the store. Each part has flags of its own.
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
    {"ls", "tasks with their verdicts and best times, or the attempts of one", declare_records_ls},
    {"show", "one attempt, or the attempts of one task", declare_records_show},
    {"best", "the fastest schedules of a task", declare_records_best},
    {"export", "everything as lines of JSON", declare_records_export},
    {"import", "lines of JSON into the store, or traces from a log of Ansor",
     declare_records_import},
    {"merge", "other stores into this one", declare_records_merge},
    {"check", "whether the store is whole", declare_records_check},
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
