// JSON values and their text form. Json throws on a type mismatch; read untrusted JSON through
// parse_json and member<T>, which return an Error instead. Slow to compile: headers that only name
// Json include base/json_fwd.h. A Json is a value; threads may share it read-only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tilewright {

// Parses a whole text; never throws. Errors name line and column. Nesting deeper than 512 levels is
// an error, so hostile input cannot exhaust the stack.
Result<Json> parse_json(std::string_view text);

// On one line, without spaces. Invalid UTF-8 in strings becomes U+FFFD.
std::string print_json(const Json& json);

// The member `key` of an object: member<int64_t>(json, "threads"). Fails if `json` is not an
// object, the key is missing, or the value has another type. An int64_t must be an integer within
// its range.
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

// The member `key`, or nullptr. The pointer is valid until `json` changes.
const Json* find_member(const Json& json, std::string_view key);

}  // namespace tilewright
