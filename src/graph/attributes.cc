#include "graph/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "graph/shape_text.h"

namespace tilewright::graph {
namespace {

template <class T>
const T& as(const Attributes::Value& value, std::string_view name) {
  const T* wanted = std::get_if<T>(&value);
  CHECK(wanted != nullptr, "attribute {} is of another kind", name);
  return *wanted;
}

std::string print(const Attributes::Value& value) {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return shape_text(*list);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<int64_t>(value));
}

}  // namespace

Attributes::Attributes(std::initializer_list<std::pair<const std::string, Value>> values)
    : values_(values) {}

bool Attributes::has(std::string_view name) const { return values_.contains(name); }

const Attributes::Value* Attributes::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const Attributes::Value& Attributes::get(std::string_view name) const {
  const Value* value = find(name);
  CHECK(value != nullptr, "attribute {} is missing", name);
  return *value;
}

int64_t Attributes::integer(std::string_view name, int64_t fallback) const {
  const Value* value = find(name);
  return value == nullptr ? fallback : as<int64_t>(*value, name);
}

int64_t Attributes::integer(std::string_view name) const { return as<int64_t>(get(name), name); }

double Attributes::number(std::string_view name, double fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* whole = std::get_if<int64_t>(value)) return static_cast<double>(*whole);
  return as<double>(*value, name);
}

const std::string& Attributes::text(std::string_view name) const {
  return as<std::string>(get(name), name);
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
  const Value* value = find(name);
  return value == nullptr ? std::string(fallback) : as<std::string>(*value, name);
}

const std::vector<int64_t>& Attributes::list(std::string_view name) const {
  return as<std::vector<int64_t>>(get(name), name);
}

std::vector<int64_t> Attributes::list(std::string_view name, std::vector<int64_t> fallback) const {
  const Value* value = find(name);
  if (value != nullptr) return as<std::vector<int64_t>>(*value, name);
  return fallback;
}

void Attributes::set(std::string name, Value value) {
  values_.insert_or_assign(std::move(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) values_.erase(found);
}

std::string Attributes::to_string() const {
  std::vector<std::string> parts;
  parts.reserve(values_.size());
  for (const auto& [name, value] : values_) {
    parts.push_back(fmt::format("{}={}", name, print(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tilewright::graph
