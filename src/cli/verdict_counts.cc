#include "cli/verdict_counts.h"

#include <fmt/format.h>

#include "base/json.h"

namespace tilewright::cli {

std::string failed_text(const app::VerdictCounts& by_kind) {
  std::string text;
  for (size_t kind = 0; kind < by_kind.size(); ++kind) {
    const auto verdict = static_cast<record::VerdictKind>(kind);
    if (app::is_valid(verdict) || by_kind[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "  failed: " : ", ", by_kind[kind],
                        app::verdict_name(verdict));
  }
  return text;
}

Json verdicts_json(const app::VerdictCounts& by_kind) {
  Json verdicts = Json::object();
  for (size_t kind = 0; kind < by_kind.size(); ++kind) {
    if (by_kind[kind] == 0) continue;
    verdicts[std::string(app::verdict_name(static_cast<record::VerdictKind>(kind)))] =
        by_kind[kind];
  }
  return verdicts;
}

}  // namespace tilewright::cli
