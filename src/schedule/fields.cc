#include "schedule/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>

namespace tilewright::schedule {
namespace {

constexpr std::array<std::string_view, 4> kTails = {"peel", "mask", "overlap", "pad"};
constexpr std::array<std::string_view, 5> kAnnotations = {"none", "parallel", "vectorize", "unroll",
                                                          "stream"};

constexpr std::array<std::string_view, 4> kScopes = {"global", "shared", "local", "register"};

template <class Enum, size_t N>
bool find_word(const std::array<std::string_view, N>& words, std::string_view word, Enum* value) {
  for (size_t k = 0; k < N; ++k) {
    if (words[k] == word) {
      *value = static_cast<Enum>(k);
      return true;
    }
  }
  return false;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr size_t kMaxNameLength = 1000;

// name := (word | '(' name (',' name)+ ')') ('.' digit)*. Returns the characters used, 0 if none.
size_t loop_name_length(std::string_view text, size_t depth) {
  if (text.empty() || depth > kMaxLoops) return 0;
  size_t at = 0;
  if (text[0] == '(') {
    int members = 0;
    do {
      const size_t used = loop_name_length(text.substr(at + 1), depth + 1);
      if (used == 0) return 0;
      at += 1 + used;
      ++members;
    } while (at < text.size() && text[at] == ',');
    if (members < 2 || at >= text.size() || text[at] != ')') return 0;
    ++at;
  } else {
    while (at < text.size() && is_word(text[at])) ++at;
    if (at == 0) return 0;
  }
  while (at + 1 < text.size() && text[at] == '.' && text[at + 1] >= '0' && text[at + 1] <= '9') {
    at += 2;
  }
  return at;
}

}  // namespace

std::string_view word_of(Tail tail) { return kTails[static_cast<size_t>(tail)]; }
std::string_view word_of(Annotation annotation) {
  return kAnnotations[static_cast<size_t>(annotation)];
}
std::string_view word_of(MemoryScope scope) { return kScopes[static_cast<size_t>(scope)]; }
std::string all_words(Tail) { return fmt::format("{}", fmt::join(kTails, "|")); }
std::string all_words(Annotation) { return fmt::format("{}", fmt::join(kAnnotations, "|")); }
std::string all_words(MemoryScope) { return fmt::format("{}", fmt::join(kScopes, "|")); }
bool from_word(std::string_view word, MemoryScope* scope) {
  return find_word(kScopes, word, scope);
}
bool from_word(std::string_view word, Tail* tail) { return find_word(kTails, word, tail); }
bool from_word(std::string_view word, Annotation* annotation) {
  if (word == "vectorise") word = "vectorize";  // the spelling of older records
  return find_word(kAnnotations, word, annotation);
}

std::string field_text(const StageName& value) { return value.text(); }
std::string field_text(const Name& value) { return value.text(); }
std::string field_text(int64_t value) { return std::to_string(value); }

bool field_from_text(std::string_view text, StageName* value) {
  const std::optional<StageName> parsed = StageName::parse(text);
  if (parsed) *value = *parsed;
  return parsed.has_value();
}

bool field_from_text(std::string_view text, Name* value) {
  if (text.empty() || text.size() > kMaxNameLength) return false;
  if (loop_name_length(text, 0) != text.size()) return false;
  *value = Name(text);
  return true;
}

bool field_from_text(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<std::vector<std::string_view>> list_items(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = trim(text.substr(1, text.size() - 2));
  std::vector<std::string_view> items;
  if (text.empty()) return items;
  int depth = 0;
  size_t begin = 0;
  for (size_t k = 0; k <= text.size(); ++k) {
    if (k == text.size() || (text[k] == ',' && depth == 0)) {
      items.push_back(trim(text.substr(begin, k - begin)));
      begin = k + 1;
    } else if (text[k] == '(') {
      ++depth;
    } else if (text[k] == ')') {
      --depth;
    }
  }
  return items;
}

}  // namespace tilewright::schedule
