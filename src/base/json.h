// JSON values and their text. Json throws when a member has another type than asked for, so what
// comes from outside is read through parse_json and member<T>, which answer with an Error instead.
// Heavy to compile: headers that only mention Json include base/json_fwd.h. A Json is a value;
// share it between threads only for reading.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tilewright {

// The value of a whole text; never throws. Errors name line and column. Nesting deeper than 512 is
// refused, so hostile input cannot exhaust the stack.
Result<Json> parse_json(std::string_view text);

// One line, without spaces; invalid UTF-8 in strings becomes U+FFFD.
std::string print_json(const Json& json);
// Indented by two spaces, with a final newline: for files that people read.
std::string print_json_pretty(const Json& json);

// The member `key` of an object: member<int64_t>(json, "threads"). An Error when json is no object,
// the key is missing or the value has another type; numbers must be integers that fit in int64_t.
template <class T>
Result<T> member(const Json& json, std::string_view key);

template <>
Result<bool> member<bool>(const Json& json, std::string_view key);
template <>
Result<int64_t> member<int64_t>(const Json& json, std::string_view key);
template <>
Result<double> member<double>(const Json& json, std::string_view key);
template <>
Result<std::string> member<std::string>(const Json& json, std::string_view key);

// The member `key` whatever it is, or nullptr; the pointer lives as long as `json` is unchanged.
const Json* find_member(const Json& json, std::string_view key);

}  // namespace tilewright
