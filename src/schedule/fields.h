// The field list of a step: one declaration that defines its text form, its JSON form and both
// parsers.
//
//   struct Split {
//     StageName stage; Name loop; Factors factors; Tail tail = Tail::Peel;
//     static constexpr std::string_view kTag = "split";
//     static constexpr auto fields() {
//       return std::tuple(required("stage", &Split::stage), ..., optional("tail", &Split::tail));
//     }
//   };
//
//   text: split C i [4, 8] (tail=peel)     required fields by position, optional ones by name
//   JSON: {"step": "split", "stage": "C", "loop": "i", "factors": [4, 8]}     (fields_json.h)
//
// An optional field with its default value (that of a default-constructed step) is omitted in both
// forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/inline_vector.h"
#include "base/name.h"
#include "schedule/loop_tree.h"
#include "schedule/stage_name.h"

namespace tilewright::schedule {

template <class StepType, class Value>
struct Field {
  std::string_view name;
  Value StepType::* member;
  bool required;
};
template <class StepType, class Value>
constexpr Field<StepType, Value> required(std::string_view name, Value StepType::* member) {
  return {name, member, true};
}
template <class StepType, class Value>
constexpr Field<StepType, Value> optional(std::string_view name, Value StepType::* member) {
  return {name, member, false};
}

using LoopList = InlineVector<Name, kMaxLoops>;
// The readers of one cache_read. Others read a second copy.
inline constexpr size_t kMaxReaders = 8;
using StageList = InlineVector<StageName, kMaxReaders>;
// The factors of one split: eight parts. A GPU tiling has five per axis, and a part can be split
// again.
inline constexpr size_t kMaxFactors = 7;
using Factors = InlineVector<int64_t, kMaxFactors>;

// Names of the enumerators that fields contain.
std::string_view word_of(Tail tail);
std::string_view word_of(Annotation annotation);
std::string_view word_of(MemoryScope scope);
std::string all_words(Tail);  // `a|b`
std::string all_words(Annotation);
std::string all_words(MemoryScope);
bool from_word(std::string_view word, Tail* tail);
bool from_word(std::string_view word, Annotation* annotation);
bool from_word(std::string_view word, MemoryScope* scope);

// Converts a field value to one token of text, and back; false if the token is not a valid value.
std::string field_text(const StageName& value);
std::string field_text(const Name& value);
std::string field_text(int64_t value);
bool field_from_text(std::string_view text, StageName* value);
bool field_from_text(std::string_view text, Name* value);  // a well-formed loop name
bool field_from_text(std::string_view text, int64_t* value);

template <class Enum>
  requires std::is_enum_v<Enum>
std::string field_text(Enum value) {
  return std::string(word_of(value));
}
template <class Enum>
  requires std::is_enum_v<Enum>
bool field_from_text(std::string_view text, Enum* value) {
  return from_word(text, value);
}

// An absent value is not written.
template <class T>
std::string field_text(const std::optional<T>& value) {
  return value ? field_text(*value) : std::string();
}
template <class T>
bool field_from_text(std::string_view text, std::optional<T>* value) {
  return field_from_text(text, &value->emplace());
}

// Splits `[a, (b,c), d]` at commas outside parentheses; empty if the brackets are missing.
std::optional<std::vector<std::string_view>> list_items(std::string_view text);

template <class T, size_t N>
std::string field_text(const InlineVector<T, N>& list) {
  std::string out = "[";
  for (const T& item : list) {
    if (out.size() > 1) out += ", ";
    out += field_text(item);
  }
  return out + "]";
}
template <class T, size_t N>
bool field_from_text(std::string_view text, InlineVector<T, N>* list) {
  const auto items = list_items(text);
  if (!items || items->size() > N) return false;
  list->clear();
  for (const std::string_view item : *items) {
    T value{};
    if (!field_from_text(item, &value)) return false;
    list->push_back(value);
  }
  return true;
}

}  // namespace tilewright::schedule
