#include "base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright::option_text {
namespace {

template <class Number>
bool read_number(std::string_view text, Number* value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end;
}

}  // namespace

std::string print(bool value) { return value ? "true" : "false"; }
std::string print(int64_t value) { return fmt::format("{}", value); }
std::string print(uint64_t value) { return fmt::format("{}", value); }
std::string print(double value) { return fmt::format("{}", value); }
std::string print(const std::string& value) { return value; }
std::string print(const NestedSelection& value) {
  std::string text = value.text;
  std::ranges::replace(text, ',', '/');
  return text;
}

bool read(std::string_view text, bool* value) {
  *value = text == "true";
  return text == "true" || text == "false";
}
bool read(std::string_view text, int64_t* value) { return read_number(text, value); }
bool read(std::string_view text, uint64_t* value) { return read_number(text, value); }
bool read(std::string_view text, double* value) {
  return read_number(text, value) && std::isfinite(*value);
}
bool read(std::string_view text, std::string* value) {
  *value = text;
  return true;
}
bool read(std::string_view text, NestedSelection* value) {
  value->text = text;
  std::ranges::replace(value->text, '/', ',');
  return true;
}

std::string expected_number(bool whole, const Range& range) {
  std::string text = whole ? "a whole number" : "a number";
  if (std::isfinite(range.low)) text += fmt::format(" from {}", range.low);
  if (std::isfinite(range.high)) text += fmt::format(" to {}", range.high);
  return text;
}

std::string expected_word(std::span<const std::string_view> words) {
  return fmt::format("one of {}", fmt::join(words, ", "));
}

Result<std::vector<Setting>> split(std::string_view owner, std::string_view text) {
  std::vector<Setting> settings;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: '{}' is not an option; write OPTION=VALUE", owner, item));
    }
    const Setting setting{.name = item.substr(0, equals), .value = item.substr(equals + 1)};
    if (std::ranges::find(settings, setting.name, &Setting::name) != settings.end()) {
      return fail(ErrorKind::BadInput, fmt::format("{}: {} is given twice", owner, setting.name));
    }
    settings.push_back(setting);
  }
  return settings;
}

std::unexpected<Error> unknown(std::string_view owner, std::string_view name,
                               std::span<const OptionInfo> known) {
  std::string names;
  for (const OptionInfo& info : known) names += (names.empty() ? "" : ", ") + info.name;
  return fail(ErrorKind::BadInput,
              fmt::format("{} has no option '{}'; {}", owner, name,
                          names.empty() ? "it has none" : "there are " + names));
}

std::unexpected<Error> unusable(std::string_view owner, const Setting& setting,
                                std::string_view expected) {
  return fail(ErrorKind::BadInput, fmt::format("{}: {}={}: it must be {}", owner, setting.name,
                                               setting.value, expected));
}

std::unexpected<Error> contradictory(std::string_view owner, std::string_view fault) {
  return fail(ErrorKind::BadInput, fmt::format("{}: {}", owner, fault));
}

std::unexpected<Error> unknown_nested(std::string_view owner, const Error& error) {
  return fail(error.kind, fmt::format("{}: {}", owner, error.message));
}

}  // namespace tilewright::option_text
