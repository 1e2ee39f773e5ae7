#include "app/operator_space.h"

#include <algorithm>
#include <set>
#include <variant>

#include "app/model_choice.h"
#include "schedule/fields.h"
#include "space/sketch_rules.h"
#include "target/machine.h"

namespace tilewright::app {
namespace {

using schedule::Hole;
using schedule::Step;

constexpr size_t kShown = 4;  // choices shown per hole

std::string steps_text(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += (text.empty() ? "" : ", ") + to_text(step);
  return text;
}

std::string text_of(const schedule::TileDomain& domain, size_t choice) {
  return schedule::field_text(domain.choices[choice]);
}
std::string text_of(const schedule::StepDomain& domain, size_t choice) {
  return domain.choices[choice] ? to_text(*domain.choices[choice]) : "off";
}
std::string text_of(const schedule::SiteDomain& domain, size_t choice) {
  std::string text;
  for (const std::vector<Step>& steps : domain.choices[choice]) {
    if (!steps.empty()) text += (text.empty() ? "" : "; ") + steps_text(steps);
  }
  return text.empty() ? "off" : text;
}
std::string text_of(const schedule::TailDomain& domain, size_t choice) {
  return std::string(schedule::word_of(domain.choices[choice]));
}

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

// The first, the last and some in between.
std::set<size_t> shown_choices(const Hole& hole, bool all) {
  std::set<size_t> shown;
  const size_t last = hole.size() - 1;
  for (size_t k = 0; k <= last && all; ++k) shown.insert(k);
  for (size_t k = 0; k < kShown; ++k) shown.insert(last * k / (kShown - 1));
  return shown;
}

SpaceHole describe(const Hole& hole, bool all_choices) {
  SpaceHole result{.kind = std::string(hole_kind_text(hole.kind)),
                   .stage = std::string(hole.stage.text()),
                   .steps = steps_of(hole),
                   .size = hole.size(),
                   .choices = {}};
  for (const size_t choice : shown_choices(hole, all_choices)) {
    result.choices.push_back({.number = choice, .text = choice_text(hole, choice)});
  }
  return result;
}

SpaceSketch describe(const schedule::Sketch& sketch, bool all_choices) {
  SpaceSketch result{.name = sketch.name, .steps = {}, .holes = {}, .size = sketch.size()};
  for (const Step& step : sketch.trace.steps) result.steps.push_back(to_text(step));
  for (const Hole& hole : sketch.holes) result.holes.push_back(describe(hole, all_choices));
  return result;
}

}  // namespace

Result<Target> space_target_of(const TargetChoice& choice) {
  return target_of(choice, std::max(1, static_cast<int>(detect_machine().cpus.size())));
}

Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options, bool all_choices) {
  Workload workload = TRY(operator_named(what));
  const Target made_for = TRY(space_target_of(target));
  const Task task{.workload = std::move(workload), .target = made_for};
  const space::Space space = TRY(space::Space::make(task, options));
  OperatorSpace result{.what = task.workload.text,
                       .target = print_target(task.target),
                       .sketches = {},
                       .size = space.size()};
  for (const schedule::Sketch& sketch : space.sketches()) {
    result.sketches.push_back(describe(sketch, all_choices));
  }
  return result;
}

std::string choice_text(const Hole& hole, size_t choice) {
  return std::visit([&](const auto& domain) { return text_of(domain, choice); }, hole.domain);
}

SpaceParts space_parts(const Target& target) {
  SpaceParts parts;
  for (const space::SketchRule& rule : space::sketch_rules(target)) {
    parts.rules.push_back({.name = rule.name, .what = rule.what});
  }
  for (const space::Extension& extension : space::extensions()) {
    parts.extensions.push_back(
        {.name = std::string(extension.name), .what = std::string(extension.what)});
  }
  return parts;
}

}  // namespace tilewright::app
