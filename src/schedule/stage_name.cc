#include "schedule/stage_name.h"

#include <array>
#include <charconv>

namespace tilewright::schedule {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"", "read", "write", "rfactor"};

bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

}  // namespace

std::string StageName::text() const {
  std::string out = op.text();
  if (role == StageRole::Main) return out;
  out += '.';
  out += kRoles[static_cast<size_t>(role)];
  if (ordinal > 0) out += '.' + std::to_string(ordinal);
  return out;
}

std::optional<StageName> StageName::parse(std::string_view text) {
  const size_t dot = text.find('.');
  const std::string_view op = text.substr(0, dot);
  if (!is_plain(op)) return std::nullopt;
  StageName name{.op = Name(op)};
  if (dot == std::string_view::npos) return name;
  std::string_view rest = text.substr(dot + 1);
  const size_t second = rest.find('.');
  const std::string_view role = rest.substr(0, second);
  for (size_t k = 1; k < kRoles.size(); ++k) {
    if (role == kRoles[k]) name.role = static_cast<StageRole>(k);
  }
  if (name.role == StageRole::Main) return std::nullopt;
  if (second == std::string_view::npos) return name;
  rest = rest.substr(second + 1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), name.ordinal);
  const bool whole = error == std::errc{} && end == rest.data() + rest.size();
  if (!whole || name.ordinal == 0 || rest.front() == '0') return std::nullopt;
  return name;
}

}  // namespace tilewright::schedule
