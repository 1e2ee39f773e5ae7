#include "cli/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <ostream>
#include <span>

#include "base/check.h"
#include "base/json.h"
#include "cli/option_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

// `--some-flag` -> `TILEWRIGHT_SOME_FLAG`
std::string variable_of(const std::string& flag) {
  std::string name = "TILEWRIGHT_" + flag;
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

void read_flags_from_environment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    option->envname(variable_of(option->get_lnames().front()));
  }
}

std::string_view kind_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::BadInput:
      return "bad_input";
    case ErrorKind::Unsupported:
      return "unsupported";
    case ErrorKind::Illegal:
      return "illegal";
    case ErrorKind::Io:
      return "io";
    case ErrorKind::Build:
      return "build";
  }
  return "unknown";
}

// A build that fails on an accepted program is a bug; the user can fix everything else.
ExitCode exit_code_of(ErrorKind kind) {
  return kind == ErrorKind::Build ? ExitCode::InternalError : ExitCode::BadUse;
}

// For errors in the arguments, before CLI11 has parsed --json.
bool has_json_flag(const std::vector<std::string>& arguments) {
  if (std::ranges::find(arguments, "--json") != arguments.end()) return true;
  const char* const variable = std::getenv("TILEWRIGHT_JSON");
  return variable != nullptr && std::string_view(variable) == "true";
}

// CLI11 would only report that a subcommand is required.
Status check_verb(const std::vector<std::string>& arguments, std::span<const Verb> verbs) {
  if (arguments.empty() || arguments.front().starts_with('-')) return {};
  std::string known;
  for (const Verb& verb : verbs) {
    if (verb.name == arguments.front()) return {};
    known += known.empty() ? "" : ", ";
    known += verb.name;
  }
  return fail(ErrorKind::BadInput,
              fmt::format("there is no verb '{}'; the verbs are {}", arguments.front(), known));
}

void add_common_flags(CLI::App& app, bool* json) {
  app.add_flag("--json", *json, "print one JSON object per line on stdout");
  for (CLI::App* part : app.get_subcommands({})) add_common_flags(*part, json);
}

// The part of a verb that the arguments name, for verbs with parts; nullptr if none is named.
Result<CLI::App*> part_of(CLI::App& verb, std::span<const std::string> arguments) {
  const std::vector<CLI::App*> parts = verb.get_subcommands({});
  for (const std::string& argument : arguments) {
    const auto part = std::ranges::find(parts, argument, &CLI::App::get_name);
    if (part != parts.end()) return *part;
  }
  if (parts.empty() || arguments.empty() || arguments.front().starts_with('-')) return nullptr;
  std::string known;
  for (const CLI::App* part : parts) known += (known.empty() ? "" : ", ") + part->get_name();
  return fail(ErrorKind::BadInput, fmt::format("there is no '{} {}'; its parts are {}",
                                               verb.get_name(), arguments.front(), known));
}

int report(const Context& context, ExitCode code, std::string_view kind, std::string_view message) {
  context.err << fmt::format("tilewright: {}\n", message);
  print_error_object(context, {{"kind", kind}, {"message", message}});
  return static_cast<int>(code);
}

int run_action(const CLI::App& verb, const Action& action, const Context& context) {
  try {
    const Result<ExitCode> result = action(context);
    if (result) return static_cast<int>(*result);
    const ErrorKind kind = result.error().kind;
    return report(context, exit_code_of(kind), kind_text(kind),
                  message_with_hints(result.error(), verb));
  } catch (const InternalError& error) {
    return report(context, ExitCode::InternalError, "internal",
                  fmt::format("internal error, please report it: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return report(context, ExitCode::BadUse, "no_memory",
                  "out of memory; close other programs, or raise the memory limit");
  } catch (const std::exception& error) {
    return report(
        context, ExitCode::InternalError, "internal",
        fmt::format("internal error, please report it: unexpected exception: {}", error.what()));
  }
}

int parse_and_run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
                  std::span<const Verb> verbs) {
  const Context unparsed = {.out = out, .err = err, .json = has_json_flag(arguments)};
  if (const Status status = check_verb(arguments, verbs); !status) {
    return report(unparsed, ExitCode::BadUse, "bad_input", status.error().message);
  }
  CLI::App app("Tilewright: an auto-tuning tensor compiler", "tilewright");
  app.set_version_flag("--version", TILEWRIGHT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Every flag --some-flag of a verb is also the environment variable "
      "TILEWRIGHT_SOME_FLAG.");

  bool json = false;
  struct Declared {
    CLI::App* app;
    Action action;
  };
  std::vector<Declared> declared;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
    declared.push_back({sub, verb.declare(*sub)});
    add_common_flags(*sub, &json);
    // Only for the verb that runs: CLI11 would check the variables of all verbs.
    const bool chosen = !arguments.empty() && arguments.front() == verb.name;
    if (!chosen) continue;
    read_flags_from_environment(*sub);
    const Result<CLI::App*> part = part_of(*sub, std::span(arguments).subspan(1));
    if (!part) return report(unparsed, ExitCode::BadUse, "bad_input", part.error().message);
    if (*part != nullptr) read_flags_from_environment(**part);
  }

  try {
    // CLI11 takes them in reverse.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error, out, err);
    if (is_help) return static_cast<int>(ExitCode::Done);
    print_error_object(unparsed, {{"kind", "bad_input"}, {"message", error.what()}});
    return static_cast<int>(ExitCode::BadUse);
  }
  for (const Declared& verb : declared) {
    if (!verb.app->parsed()) continue;
    return run_action(*verb.app, verb.action, {.out = out, .err = err, .json = json});
  }
  return static_cast<int>(ExitCode::BadUse);
}
}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  return run(arguments, out, err, all_verbs());
}

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        std::span<const Verb> verbs) {
  const int code = parse_and_run(arguments, out, err, verbs);
  if (out.flush()) return code;
  err << "tilewright: cannot write the output\n";
  // Verbs stop when their output is broken, as after Ctrl-C.
  const bool is_failure =
      code != static_cast<int>(ExitCode::Done) && code != static_cast<int>(ExitCode::Interrupted);
  return is_failure ? code : static_cast<int>(ExitCode::BadUse);
}

}  // namespace tilewright::cli
