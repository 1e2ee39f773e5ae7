#include "base/json.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tilewright {
namespace {

constexpr int kMaxDepth = 512;

// The depth of brackets outside strings: cheap, and enough to keep the parser's stack bounded.
bool nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (in_string) {
      if (c == '\\') ++k;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string position(std::string_view text, size_t byte) {
  size_t line = 1;
  size_t column = 1;
  for (size_t k = 0; k + 1 < byte && k < text.size(); ++k) {
    ++column;
    if (text[k] == '\n') {
      ++line;
      column = 1;
    }
  }
  return fmt::format("line {}, column {}", line, column);
}

std::unexpected<Error> wrong_type(std::string_view key, const Json& value, const char* wanted) {
  return fail(ErrorKind::BadInput,
              fmt::format("JSON member '{}' is a {}, not {}", key, value.type_name(), wanted));
}

Result<const Json*> required(const Json& json, std::string_view key) {
  if (!json.is_object()) {
    return fail(ErrorKind::BadInput, fmt::format("JSON {} where an object with member '{}' belongs",
                                                 json.type_name(), key));
  }
  const Json* value = find_member(json, key);
  if (value == nullptr) {
    return fail(ErrorKind::BadInput, fmt::format("JSON object has no member '{}'", key));
  }
  return value;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (nested_too_deeply(text)) {
    return fail(ErrorKind::BadInput,
                fmt::format("JSON is nested more than {} levels deep", kMaxDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return fail(ErrorKind::BadInput,
                fmt::format("JSON is malformed at {}", position(text, error.byte)));
  } catch (const Json::exception& error) {  // a number out of range
    return fail(ErrorKind::BadInput, fmt::format("JSON cannot be read: {}", error.what()));
  }
}

std::string print_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* find_member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  for (auto item = json.begin(); item != json.end(); ++item) {
    if (item.key() == key) return &item.value();
  }
  return nullptr;
}

template <>
Result<bool> member<bool>(const Json& json, std::string_view key) {
  const Json* found = TRY(required(json, key));
  const Json& value = *found;
  if (!value.is_boolean()) return wrong_type(key, value, "true or false");
  return value.get<bool>();
}

template <>
Result<int64_t> member<int64_t>(const Json& json, std::string_view key) {
  const Json* found = TRY(required(json, key));
  const Json& value = *found;
  const bool too_large =
      value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_integer() || too_large) return wrong_type(key, value, "a 64-bit integer");
  return value.get<int64_t>();
}

template <>
Result<double> member<double>(const Json& json, std::string_view key) {
  const Json* found = TRY(required(json, key));
  const Json& value = *found;
  if (!value.is_number()) return wrong_type(key, value, "a number");
  return value.get<double>();
}

template <>
Result<std::string> member<std::string>(const Json& json, std::string_view key) {
  const Json* found = TRY(required(json, key));
  const Json& value = *found;
  if (!value.is_string()) return wrong_type(key, value, "a string");
  return value.get<std::string>();
}

}  // namespace tilewright
