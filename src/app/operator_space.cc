#include "app/operator_space.h"

#include <algorithm>
#include <variant>

#include "schedule/fields.h"
#include "space/sketch_rules.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

using schedule::Step;

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

}  // namespace

Result<Target> space_target_of(const TargetChoice& choice) {
  return target_of(choice, std::max(1, static_cast<int>(detect_machine().cpus.size())));
}

Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options) {
  Workload workload = TRY(parse_workload(what));
  const Target made_for = TRY(space_target_of(target));
  Task task{.workload = std::move(workload), .target = made_for};
  space::Space space = TRY(space::Space::make(task, options));
  return OperatorSpace{.task = std::move(task), .space = std::move(space)};
}

std::string choice_text(const schedule::Hole& hole, size_t choice) {
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
