#include "base/table.h"

#include <fmt/format.h>

namespace tilewright {

std::string table_names(const std::vector<TableEntry>& entries) {
  std::string names;
  for (const TableEntry& entry : entries) {
    names.append(names.empty() ? "" : ", ").append(entry.name);
  }
  return names;
}

std::string table_text(const std::vector<TableEntry>& entries) {
  std::string text;
  for (const TableEntry& entry : entries) {
    text += fmt::format("{}: {}\n", entry.name, entry.what);
    for (const OptionInfo& option : *entry.options) {
      text += fmt::format("  {}={}: {}\n", option.name, option.default_text, option.what);
    }
  }
  return text;
}

std::string table_markdown(const std::vector<TableEntry>& entries) {
  std::string text = "| name | option | default | meaning |\n|---|---|---|---|\n";
  for (const TableEntry& entry : entries) {
    text += fmt::format("| `{}` | | | {} |\n", entry.name, entry.what);
    for (const OptionInfo& option : *entry.options) {
      text += fmt::format("| | `{}` | {} | {} |\n", option.name, option.default_text, option.what);
    }
  }
  return text;
}

}  // namespace tilewright
