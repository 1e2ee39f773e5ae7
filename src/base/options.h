// Options of a table row that is selected by name, such as an explorer or a cost model. One field
// list defines the parser, the canonical text and the help.
//
//   struct BeamOptions {
//     size_t width = 64;
//     static constexpr auto fields() {
//       return std::tuple(option("width", &BeamOptions::width, "genomes kept after each hole",
//                                {1, 65536}));
//     }
//   };
//
//   text: `width=128`
//
// The text is canonical: fields in the order of the list, without fields at their default. Equal
// options have equal texts, and a new option does not change existing texts. A renamed option is
// also read under its former name. A field is a bool, a whole number, a double, a string without
// commas, an enumeration, whose words `option_words(Enum)` lists in the order of its values, or a
// NestedSelection. An optional member `std::string fault() const` rejects options that contradict
// each other: it returns the reason, or an empty text. Pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace tilewright {

// The range of a number, both ends included.
struct Range {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
};

template <class Options, class Value>
struct OptionField {
  std::string_view name;
  Value Options::* member;
  std::string_view what;  // description for help texts
  Range range;
  std::string_view former;  // an older name, which parse_options accepts
};
template <class Options, class Value>
constexpr OptionField<Options, Value> option(std::string_view name, Value Options::* member,
                                             std::string_view what, Range range = {},
                                             std::string_view former = {}) {
  return {name, member, what, range, former};
}

struct OptionInfo {
  std::string name;
  std::string default_text;
  std::string what;
};

// No options at all.
struct NoOptions {
  static constexpr auto fields() { return std::tuple(); }
  bool operator==(const NoOptions&) const = default;
};

// A row of another table with its options. The text of the options around it separates the inner
// options by slashes: `encoding=rows:depth=2/log=true`.
struct NestedSelection {
  std::string text;  // `rows:depth=2,log=true`

  bool operator==(const NestedSelection&) const = default;
};
// The canonical text of a nested selection, by its table.
using CanonicalText = std::function<Result<std::string>(std::string_view text)>;

namespace option_text {

// Converts a value to text and back; `read` returns false for invalid text.
std::string print(bool value);
std::string print(int64_t value);
std::string print(uint64_t value);
std::string print(double value);
std::string print(const std::string& value);
std::string print(const NestedSelection& value);
bool read(std::string_view text, bool* value);
bool read(std::string_view text, int64_t* value);
bool read(std::string_view text, uint64_t* value);
bool read(std::string_view text, double* value);
bool read(std::string_view text, std::string* value);
bool read(std::string_view text, NestedSelection* value);

// `a whole number from 1 to 8`
std::string expected_number(bool whole, const Range& range);
std::string expected_word(std::span<const std::string_view> words);

struct Setting {
  std::string_view name, value;
};
// `a=1,b=2`; an error names `owner`.
Result<std::vector<Setting>> split(std::string_view owner, std::string_view text);
std::unexpected<Error> unknown(std::string_view owner, std::string_view name,
                               std::span<const OptionInfo> known);
std::unexpected<Error> unusable(std::string_view owner, const Setting& setting,
                                std::string_view expected);
std::unexpected<Error> contradictory(std::string_view owner, std::string_view fault);
std::unexpected<Error> unknown_nested(std::string_view owner, const Error& error);

template <class Value>
std::string print_value(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string(option_words(value)[static_cast<size_t>(value)]);
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    return print(
        static_cast<std::conditional_t<std::is_signed_v<Value>, int64_t, uint64_t>>(value));
  } else {
    return print(value);
  }
}

// Empty: success. Otherwise a description of the valid values.
template <class Value>
std::string read_value(std::string_view text, const Range& range, Value* value) {
  if constexpr (std::is_enum_v<Value>) {
    const std::span<const std::string_view> words = option_words(Value{});
    for (size_t k = 0; k < words.size(); ++k) {
      if (words[k] != text) continue;
      *value = static_cast<Value>(k);
      return {};
    }
    return expected_word(words);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return read(text, value) ? "" : "true or false";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    using Wide = std::conditional_t<std::is_floating_point_v<Value>, double,
                                    std::conditional_t<std::is_signed_v<Value>, int64_t, uint64_t>>;
    Wide wide{};
    const bool fits = read(text, &wide) && static_cast<double>(wide) >= range.low &&
                      static_cast<double>(wide) <= range.high &&
                      static_cast<Wide>(static_cast<Value>(wide)) == wide;
    if (!fits) return expected_number(!std::is_floating_point_v<Value>, range);
    *value = static_cast<Value>(wide);
    return {};
  } else {
    return read(text, value) ? "" : "a text";
  }
}

}  // namespace option_text

template <class Options>
std::vector<OptionInfo> describe_options(const Options& defaults = {}) {
  std::vector<OptionInfo> infos;
  std::apply(
      [&](const auto&... field) {
        (infos.push_back({std::string(field.name), option_text::print_value(defaults.*field.member),
                          std::string(field.what)}),
         ...);
      },
      Options::fields());
  return infos;
}

template <class Options>
std::string print_options(const Options& options, const Options& defaults = {}) {
  std::string text;
  const auto add = [&](const auto& field) {
    if (options.*field.member == defaults.*field.member) return;
    if (!text.empty()) text += ',';
    text.append(field.name).append("=").append(option_text::print_value(options.*field.member));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Options::fields());
  return text;
}

// `owner`: the name of the row, for messages.
template <class Options>
Result<Options> parse_options(std::string_view owner, std::string_view text,
                              const Options& defaults = {}) {
  Options options = defaults;
  for (const option_text::Setting& setting : TRY(option_text::split(owner, text))) {
    bool known = false;
    std::string expected;
    const auto take = [&](const auto& field) {
      const bool is_former = !field.former.empty() && field.former == setting.name;
      if (field.name != setting.name && !is_former) return;
      known = true;
      expected = option_text::read_value(setting.value, field.range, &(options.*field.member));
    };
    std::apply([&](const auto&... field) { (take(field), ...); }, Options::fields());
    if (!known) return option_text::unknown(owner, setting.name, describe_options(defaults));
    if (!expected.empty()) return option_text::unusable(owner, setting, expected);
  }
  if constexpr (requires { options.fault(); }) {
    if (const std::string fault = options.fault(); !fault.empty()) {
      return option_text::contradictory(owner, fault);
    }
  }
  return options;
}

// Makes the text of each nested selection canonical.
template <class Options>
Status canonicalize_nested(std::string_view owner, const CanonicalText& canonical,
                           Options* options) {
  Status status;
  const auto visit = [&](const auto& field) {
    auto& value = options->*field.member;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, NestedSelection>) {
      Result<std::string> text = canonical(value.text);
      if (text) {
        value.text = *std::move(text);
      } else if (status) {
        status = option_text::unknown_nested(owner, text.error());
      }
    }
  };
  std::apply([&](const auto&... field) { (visit(field), ...); }, Options::fields());
  return status;
}

}  // namespace tilewright
