// Pages that people write name every row of the tables that they describe.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "codegen/back_ends/back_ends.h"
#include "codegen/version.h"
#include "graph/op_table.h"
#include "graph/passes.h"
#include "lower/pipeline.h"
#include "schedule/step.h"
#include "space/sketch_rules.h"
#include "space/space.h"
#include "target/feature.h"
#include "target/target.h"

namespace tilewright {
namespace {

using Names = std::vector<std::string>;

template <class Rows>
Names names_of(const Rows& rows) {
  Names names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

template <class... Steps>
Names tags_of(const std::variant<Steps...>& /*step*/) {
  return {std::string(Steps::kTag)...};
}

Names text_forms() {
  Names names;
  for (const codegen::BackEnd& back_end : codegen::all_back_ends()) {
    for (const codegen::TextForm& form : back_end.texts) names.emplace_back(form.name);
  }
  return names;
}

Names cpu_features() {
  Names names;
  for (int k = 0; k < kFeatureCount; ++k) {
    names.emplace_back(feature_text(static_cast<Feature>(k)));
  }
  return names;
}

// A table, the page that describes it, and its names, each of which begins a code span there.
struct Page {
  const char* table;
  const char* path;
  Names (*names)();
};

constexpr Page kPages[] = {
    {"lowering passes", "ARCHITECTURE.md", [] { return names_of(lower::cpu_passes()); }},
    {"features of CPUs", "docs/deployment.md", cpu_features},
    {"operators of graphs", "docs/graph.md", [] { return names_of(graph::all_ops()); }},
    {"passes over graphs", "docs/graph.md", [] { return names_of(graph::all_passes()); }},
    {"steps", "docs/schedules.md", [] { return tags_of(schedule::Step()); }},
    {"text forms of code", "docs/schedules.md", text_forms},
    {"rules of sketches", "docs/space.md", [] { return names_of(space::sketch_rules(Target())); }},
    {"extensions of the space", "docs/space.md", [] { return names_of(space::extensions()); }},
};

std::string text_of(const std::string& path) {
  return read_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / path).value();
}

// `relu(x)` names relu, `relu_grad` does not.
bool begins_code(const std::string& text, const std::string& name) {
  const auto continues = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  for (size_t at = text.find("`" + name); at != std::string::npos;
       at = text.find("`" + name, at + 1)) {
    if (!continues(text[at + 1 + name.size()])) return true;
  }
  return false;
}

TEST(Pages, NameEveryRowOfTheirTables) {
  for (const Page& page : kPages) {
    const std::string text = text_of(page.path);
    const Names names = page.names();
    EXPECT_FALSE(names.empty()) << page.table;
    for (const std::string& name : names) {
      EXPECT_TRUE(begins_code(text, name))
          << page.path << " lacks `" << name << "` of the " << page.table;
    }
  }
}

// `| `x86-64-v3` | ...`
TEST(Pages, GiveTextsOfTargets) {
  std::istringstream lines(text_of("docs/deployment.md"));
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find('`', 3);
    if (!line.starts_with("| `") || end == std::string::npos) continue;
    const std::string text = line.substr(3, end - 3);
    const auto is_kind = [&](const char* kind) { return text.starts_with(kind); };
    if (!is_kind("x86-64") && !is_kind("aarch64") && !is_kind("cuda")) continue;
    EXPECT_TRUE(parse_target(text).has_value()) << text;
    ++found;
  }
  EXPECT_GE(found, 8);
  const std::string full = print_target(parse_target("x86-64-v3").value());
  EXPECT_TRUE(begins_code(text_of("docs/deployment.md"), full)) << full;
}

TEST(Pages, StateTheVersionOfTheCodeGenerator) {
  const std::string stated = "now " + std::to_string(codegen::kCodeGeneratorVersion) + ")";
  EXPECT_NE(text_of("docs/decisions.md").find(stated), std::string::npos) << stated;
}

}  // namespace
}  // namespace tilewright
