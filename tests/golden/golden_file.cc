#include "golden_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

namespace tilewright::testing {
namespace {

constexpr std::string_view kMark = "== ";
constexpr std::string_view kVersionMark = "== code generator ";

struct Section {
  std::string_view name;
  std::string GoldenFile::* text;
};
constexpr Section kSections[] = {
    {"target", &GoldenFile::target},   {"operator", &GoldenFile::operator_text},
    {"trace", &GoldenFile::trace},     {"tree", &GoldenFile::tree},
    {"loop ir", &GoldenFile::loop_ir}, {"llvm ir", &GoldenFile::llvm_ir}};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<int64_t> version_in(std::string_view line) {
  const std::string_view number = line.substr(kVersionMark.size());
  int64_t version = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), version);
  if (read.ec == std::errc{} && version > 0) return version;
  return fail(ErrorKind::BadInput, fmt::format("'{}' names no version", line));
}

std::string all_sections() {
  std::string names;
  for (const Section& section : kSections) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", section.name);
  }
  return names;
}

void append_lines(std::string& text, char sign, std::span<const std::string_view> lines) {
  constexpr size_t kShown = 8;
  for (size_t k = 0; k < std::min(lines.size(), kShown); ++k) {
    text += fmt::format("{} {}\n", sign, lines[k]);
  }
  if (lines.size() > kShown) text += fmt::format("{} ({} more)\n", sign, lines.size() - kShown);
}

}  // namespace

std::string to_text(const GoldenFile& file) {
  std::string text = fmt::format("{}{}\n", kVersionMark, file.version);
  for (const Section& section : kSections) {
    text += fmt::format("{}{}\n{}", kMark, section.name, file.*section.text);
  }
  return text;
}

Result<GoldenFile> parse_golden_file(std::string_view text) {
  GoldenFile file;
  std::string* section_text = nullptr;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(kVersionMark)) {
      file.version = TRY(version_in(line));
      continue;
    }
    if (line.starts_with(kMark)) {
      const auto* section = std::ranges::find(kSections, line.substr(kMark.size()), &Section::name);
      if (section == std::end(kSections)) {
        return fail(ErrorKind::BadInput, fmt::format("there is no section '{}'; sections are {}",
                                                     line.substr(kMark.size()), all_sections()));
      }
      section_text = &(file.*section->text);
      continue;
    }
    if (section_text == nullptr) {
      return fail(ErrorKind::BadInput, fmt::format("'{}' stands before any section", line));
    }
    *section_text += fmt::format("{}\n", line);
  }
  for (const Section& section : {kSections[0], kSections[1]}) {
    if (!(file.*section.text).empty()) continue;
    return fail(ErrorKind::BadInput, fmt::format("there is no {}", section.name));
  }
  return file;
}

std::string text_difference(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = lines_of(before);
  const std::vector<std::string_view> new_lines = lines_of(after);
  const auto [old_first, new_first] = std::ranges::mismatch(old_lines, new_lines);
  const auto first = old_first - old_lines.begin();
  if (old_first == old_lines.end() && new_first == new_lines.end()) return "";
  size_t tail = 0;
  const size_t limit = std::min(old_lines.size(), new_lines.size()) - static_cast<size_t>(first);
  while (tail < limit && old_lines.rbegin()[static_cast<ptrdiff_t>(tail)] ==
                             new_lines.rbegin()[static_cast<ptrdiff_t>(tail)]) {
    ++tail;
  }
  std::string text = fmt::format("line {}:\n", first + 1);
  append_lines(text, '-', std::span(old_first, old_lines.end() - static_cast<ptrdiff_t>(tail)));
  append_lines(text, '+', std::span(new_first, new_lines.end() - static_cast<ptrdiff_t>(tail)));
  return text;
}

}  // namespace tilewright::testing
