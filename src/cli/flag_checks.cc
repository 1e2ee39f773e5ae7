#include "cli/flag_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string>

namespace tilewright::cli {
namespace {

template <class Number>
bool read_whole(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, *number);
  return code == std::errc{} && rest == end;
}

}  // namespace

CLI::Validator number_between(double low, double high) {
  const std::string range = fmt::format("a number from {} to {}", low, high);
  return {[low, high, range](std::string& text) -> std::string {
            double number = 0;
            const bool right = read_whole(text, &number) && number >= low && number <= high;
            return right ? "" : fmt::format("'{}' is not {}", text, range);
          },
          fmt::format("FLOAT in [{} - {}]", low, high)};
}

CLI::Validator whole_number_between(int64_t low, int64_t high) {
  return {[low, high](std::string& text) -> std::string {
            int64_t number = 0;
            const bool right = read_whole(text, &number) && number >= low && number <= high;
            return right ? ""
                         : fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
          },
          fmt::format("INT in [{} - {}]", low, high)};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) -> std::string {
            return text.empty() ? "it is empty: leave the flag out for the default" : "";
          },
          "TEXT"};
}

CLI::Validator natural_number() {
  return {[](std::string& text) -> std::string {
            uint64_t number = 0;
            return read_whole(text, &number) ? ""
                                             : fmt::format(
                                                   "'{}' is not a whole number from 0 "
                                                   "on, below 2^64",
                                                   text);
          },
          "UINT"};
}

bool is_given(const CLI::App& app, const std::string& flag) {
  const CLI::Option* const option = app.get_option(flag);
  const std::string& variable = option->get_envname();
  return option->count() > 0 && (variable.empty() || std::getenv(variable.c_str()) == nullptr);
}

Status refuse_flags(const CLI::App& app, std::initializer_list<const char*> flags,
                    std::string_view why) {
  for (const char* const flag : flags) {
    if (is_given(app, flag)) return fail(ErrorKind::BadInput, fmt::format("{} {}", flag, why));
  }
  return {};
}

}  // namespace tilewright::cli
