#include "cli/space_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"

namespace tilewright::cli {
namespace {

using app::choice_text;
using schedule::Hole;
using schedule::Sketch;
using schedule::Step;

constexpr size_t kShown = 4;  // choices shown per hole

// Steps of the trace that a hole decides.
std::vector<int16_t> steps_of(const Hole& hole) {
  if (const auto* tiles = std::get_if<schedule::TileDomain>(&hole.domain)) {
    std::vector<int16_t> steps;
    steps.reserve(tiles->slices.size());
    for (const schedule::TileSlice& slice : tiles->slices) steps.push_back(slice.step);
    if (!steps.empty()) return steps;
  }
  if (const auto* sites = std::get_if<schedule::SiteDomain>(&hole.domain)) return sites->sites;
  if (const auto* tails = std::get_if<schedule::TailDomain>(&hole.domain)) return tails->steps;
  return {hole.step};
}

// `?3` after a step: decided by hole 3.
std::string marks_of(const Sketch& sketch, size_t step) {
  std::string marks;
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    const std::vector<int16_t> steps = steps_of(sketch.holes[k]);
    if (std::ranges::find(steps, static_cast<int16_t>(step)) != steps.end()) {
      marks += fmt::format(" ?{}", k);
    }
  }
  return marks;
}

// The first, the last and some in between.
std::vector<size_t> shown_choices(const Hole& hole, bool all) {
  std::set<size_t> shown;
  const size_t last = hole.size() - 1;
  for (size_t k = 0; k <= last && all; ++k) shown.insert(k);
  for (size_t k = 0; k < kShown; ++k) shown.insert(last * k / (kShown - 1));
  return {shown.begin(), shown.end()};
}

std::string shortened(std::string text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  text.resize(kLongest - 2);
  return text + "..";
}

std::string hole_text(const Hole& hole, size_t number, bool all) {
  std::string text = fmt::format("    ?{:<3} {:<13} {:<12} {:>5}", number,
                                 hole_kind_text(hole.kind), hole.stage.text(), hole.size());
  size_t previous = 0;
  for (const size_t choice : shown_choices(hole, all)) {
    text += fmt::format("{} {}", choice > previous + 1 ? " ..." : (choice == 0 ? " " : " |"),
                        all ? choice_text(hole, choice) : shortened(choice_text(hole, choice)));
    previous = choice;
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

std::string sketch_text(const Sketch& sketch, size_t number, bool all) {
  std::string text = fmt::format("sketch {}: {}\n", number, sketch.name);
  for (size_t k = 0; k < sketch.trace.steps.size(); ++k) {
    text += fmt::format("    {}{}\n", to_text(sketch.trace.steps[k]), marks_of(sketch, k));
  }
  text += fmt::format("  {} programs in {} holes (kind, stage, choices)\n",
                      count_text(sketch.size()), sketch.holes.size());
  for (size_t k = 0; k < sketch.holes.size(); ++k) text += hole_text(sketch.holes[k], k, all);
  return text + "\n";
}

Json sketch_json(const Sketch& sketch, size_t number, bool all) {
  Json steps = Json::array();
  for (const Step& step : sketch.trace.steps) steps.push_back(to_text(step));
  Json holes = Json::array();
  for (const Hole& hole : sketch.holes) {
    Json some = Json::array();
    for (const size_t choice : shown_choices(hole, all)) some.push_back(choice_text(hole, choice));
    holes.push_back({{"kind", hole_kind_text(hole.kind)},
                     {"stage", hole.stage.text()},
                     {"steps", steps_of(hole)},
                     {"choices", hole.size()},
                     {"some", some}});
  }
  return {{"sketch", number},
          {"name", sketch.name},
          {"steps", steps},
          {"holes", holes},
          {"size", sketch.size()}};
}

}  // namespace tilewright::cli
