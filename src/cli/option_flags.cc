#include "cli/option_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

namespace tilewright::cli {
namespace {

// Options whose flags have other names, and the values of flags that options have as true or false.
struct FlagRow {
  std::string_view option;
  std::string_view flag;
  std::string_view value = "";
};
constexpr FlagRow kFlags[] = {
    {"constants", "--constant"},
    {"inputs", "--input"},
    {"latency_targets_us", "--latency-targets"},
    {"model_file", "--model"},
    {"model_finals", "--no-model-finals"},
    {"peers.model", "--onnx"},
    {"random_seed", "--random"},
    {"trace_file", "--trace"},
    {"external_weights", "--weights", "external"},
};

// Jobs whose verbs have other names.
struct VerbRow {
  std::string_view job;
  std::string_view verb;
};
constexpr VerbRow kVerbs[] = {
    {"check_records", "records check"},
    {"export_records", "records export"},
    {"list_attempts", "records ls"},
    {"list_tasks", "records ls"},
};

std::string flag_of(std::string_view option) {
  const auto row = std::ranges::find(kFlags, option, &FlagRow::option);
  if (row != std::end(kFlags)) return std::string(row->flag);
  std::string flag = fmt::format("--{}", option);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string shell_word(std::string_view value) {
  const bool is_plain = value.find_first_of("\"'`$&|;<>()[]*?!# ") == std::string_view::npos;
  return is_plain ? std::string(value) : fmt::format("\"{}\"", value);
}

}  // namespace

std::string flag_text(const OptionHint& hint) {
  const auto row = std::ranges::find(kFlags, hint.option, &FlagRow::option);
  const std::string_view value =
      hint.value.empty() && row != std::end(kFlags) ? row->value : std::string_view(hint.value);
  return flag_of(hint.option) + (value.empty() ? "" : " " + shell_word(value));
}

std::string job_text(const JobHint& hint) {
  const auto row = std::ranges::find(kVerbs, hint.job, &VerbRow::job);
  const std::string_view verb = row != std::end(kVerbs) ? row->verb : std::string_view(hint.job);
  return fmt::format("`tilewright {}{}` {}", verb,
                     hint.argument.empty() ? "" : " " + shell_word(hint.argument), hint.what);
}

std::string message_with_hints(const Error& error, const CLI::App& verb) {
  const CLI::App* part = &verb;
  while (!part->get_subcommands().empty()) part = part->get_subcommands().front();
  std::string flags;
  for (const OptionHint& hint : error.options) {
    if (part->get_option_no_throw(flag_of(hint.option)) == nullptr) continue;
    flags += (flags.empty() ? "" : ", ") + flag_text(hint);
  }
  std::string text = flags.empty() ? error.message : fmt::format("{} ({})", error.message, flags);
  for (const JobHint& hint : error.jobs) text += "; " + job_text(hint);
  return text;
}

}  // namespace tilewright::cli
