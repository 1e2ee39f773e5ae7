// The JSON form of field values. Separate from fields.h, so that steps do not include a JSON
// library.
#pragma once

#include "base/json.h"
#include "schedule/fields.h"

namespace tilewright::schedule {

// JSON: numbers as numbers, lists as arrays, anything else as the token of the text form.
template <class T>
Json field_json(const T& value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return value;
  } else {
    return field_text(value);
  }
}
template <class T, size_t N>
Json field_json(const InlineVector<T, N>& list) {
  Json out = Json::array();
  for (const T& item : list) out.push_back(field_json(item));
  return out;
}
template <class T>
bool field_from_json(const Json& json, T* value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (!json.is_number_integer()) return false;
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return false;
    *value = json.get<int64_t>();
    return true;
  } else {
    return json.is_string() && field_from_text(json.get_ref<const std::string&>(), value);
  }
}
template <class T, size_t N>
bool field_from_json(const Json& json, InlineVector<T, N>* list) {
  if (!json.is_array() || json.size() > N) return false;
  list->clear();
  for (const Json& item : json) {
    T value{};
    if (!field_from_json(item, &value)) return false;
    list->push_back(value);
  }
  return true;
}

}  // namespace tilewright::schedule
