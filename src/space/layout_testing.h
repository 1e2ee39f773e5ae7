// For tests of layouts: an operator with an empty draft, and the steps and holes of a layout as
// text.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "schedule/apply.h"
#include "space/layout_context.h"
#include "space/space_testing.h"

namespace tilewright::space {

struct LayoutBench {
  explicit LayoutBench(std::string_view text, std::set<std::string> off = {},
                       std::string_view target = "x86-64-v4;threads=2")
      : task(task_of(text, target)), initial(schedule::initial_tree(task.workload).value()) {
    CHECK(!schedule::apply(initial, {}, &plain), "{}", text);
    space.off = std::move(off);
  }
  LayoutBench(const LayoutBench&) = delete;  // its members refer to each other
  LayoutBench& operator=(const LayoutBench&) = delete;

  te::OpId op(std::string_view name) const { return op_of(space, {Name(name)}); }

  // The steps, one per line.
  std::string steps() const { return to_text(draft.sketch.trace); }
  // `tile C 3, parallel C 2`: kind, stage and number of choices of each hole.
  std::string holes() const {
    std::string text;
    for (const schedule::Hole& hole : draft.sketch.holes) {
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", hole_kind_text(hole.kind),
                          hole.stage.text(), hole.size());
    }
    return text;
  }
  // Steps of a choice of a hole with sites, those of different sites apart: `a; b | c`.
  std::string choice(size_t hole, size_t number) const {
    const auto& domain = std::get<schedule::SiteDomain>(draft.sketch.holes.at(hole).domain);
    std::string text;
    for (size_t site = 0; site < domain.sites.size(); ++site) {
      if (site > 0) text += " | ";
      const auto& steps = domain.choices.at(number)[site];
      for (size_t k = 0; k < steps.size(); ++k) text += (k > 0 ? "; " : "") + to_text(steps[k]);
    }
    return text;
  }

  Task task;
  schedule::LoopTree initial;
  schedule::LoopTree plain{};
  SpaceContext space{.task = &task, .initial = &initial, .plain = &plain, .cores = 2};
  Draft draft{};
  DraftWriter writer{draft.sketch};
  LayoutContext layout{.space = space, .tree = plain, .writer = writer};
};

inline std::string steps_text(const DraftWriter::Steps& steps) {
  std::string text;
  for (const schedule::Step& step : steps) text += (text.empty() ? "" : "; ") + to_text(step);
  return text;
}

}  // namespace tilewright::space
