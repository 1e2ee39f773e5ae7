#include "cli/space_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.h"

namespace tilewright::cli {
namespace {

using app::SpaceHole;
using app::SpaceSketch;

// `?3` after a step: decided by hole 3.
std::string marks_of(const SpaceSketch& sketch, size_t step) {
  std::string marks;
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    const std::vector<int16_t>& steps = sketch.holes[k].steps;
    if (std::ranges::find(steps, static_cast<int16_t>(step)) != steps.end()) {
      marks += fmt::format(" ?{}", k);
    }
  }
  return marks;
}

std::string shortened(std::string text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  text.resize(kLongest - 2);
  return text + "..";
}

std::string hole_text(const SpaceHole& hole, size_t number, bool whole) {
  std::string text =
      fmt::format("    ?{:<3} {:<13} {:<12} {:>5}", number, hole.kind, hole.stage, hole.size);
  size_t previous = 0;
  for (const SpaceHole::Choice& choice : hole.choices) {
    const bool leaves_out = choice.number > previous + 1;
    text += fmt::format("{} {}", leaves_out ? " ..." : (choice.number == 0 ? " " : " |"),
                        whole ? choice.text : shortened(choice.text));
    previous = choice.number;
  }
  return text + "\n";
}

}  // namespace

std::string count_text(double count) {
  if (count >= 1e9) return fmt::format("{:.1e}", count);
  std::string digits = fmt::format("{:.0f}", count);
  for (size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, ",");
  return digits;
}

std::string rules_text(const app::SpaceParts& parts) {
  std::string text = "rules, in order:\n";
  for (const app::SpacePart& rule : parts.rules) {
    text += fmt::format("  {:<22} {}\n", rule.name, rule.what);
  }
  text += "extensions:\n";
  for (const app::SpacePart& extension : parts.extensions) {
    text += fmt::format("  {:<22} {}\n", extension.name, extension.what);
  }
  return text;
}

Json rules_json(const app::SpaceParts& parts) {
  const auto json_of = [](const std::vector<app::SpacePart>& some) {
    Json json = Json::array();
    for (const app::SpacePart& one : some) {
      json.push_back({{"name", one.name}, {"what", one.what}});
    }
    return json;
  };
  return {{"rules", json_of(parts.rules)}, {"extensions", json_of(parts.extensions)}};
}

std::string sketch_text(const SpaceSketch& sketch, size_t number, bool whole) {
  std::string text = fmt::format("sketch {}: {}\n", number, sketch.name);
  for (size_t k = 0; k < sketch.steps.size(); ++k) {
    text += fmt::format("    {}{}\n", sketch.steps[k], marks_of(sketch, k));
  }
  text += fmt::format("  {} programs in {} holes (kind, stage, choices)\n", count_text(sketch.size),
                      sketch.holes.size());
  for (size_t k = 0; k < sketch.holes.size(); ++k) text += hole_text(sketch.holes[k], k, whole);
  return text + "\n";
}

Json sketch_json(const SpaceSketch& sketch, size_t number) {
  Json holes = Json::array();
  for (const SpaceHole& hole : sketch.holes) {
    Json some = Json::array();
    for (const SpaceHole::Choice& choice : hole.choices) some.push_back(choice.text);
    holes.push_back({{"kind", hole.kind},
                     {"stage", hole.stage},
                     {"steps", hole.steps},
                     {"choices", hole.size},
                     {"some", some}});
  }
  return {{"sketch", number},
          {"name", sketch.name},
          {"steps", sketch.steps},
          {"holes", holes},
          {"size", sketch.size}};
}

}  // namespace tilewright::cli
