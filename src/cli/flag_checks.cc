#include "cli/flag_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
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

}  // namespace tilewright::cli
