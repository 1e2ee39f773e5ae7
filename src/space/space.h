// Space: all schedules of a task that a search may try: sketches, each a trace with holes. They are
// derived by rules (space/rule.h), declared by a template (space/template.h), or simply given. The
// same task and options give the same sketches. Immutable; share freely.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/rule.h"
#include "space/templates.h"

namespace tilewright::space {

// What Ansor has not: each can be turned off by name.
struct Extension {
  std::string_view name;  // `pack`, `register_read`, `tails`, `unroll_and_jam`, ...
  std::string_view what;
};
std::span<const Extension> extensions();

struct SpaceOptions {
  std::vector<std::string> off{};    // names of rules and extensions; an unknown one is an error
  std::vector<SketchRule> custom{};  // tried before the built-in ones
  int cores = 0;                     // that the rules think of; 0: the target's threads
  // Sketches come from this template; none: from the rules.
  std::optional<Selection> from{};
  TemplateTable templates = space::templates();
};

// An error for a name in `off` that is no rule or extension, or for anything in it with a template.
Status check_off(const SpaceOptions& options, const Target& target);

class Space {
 public:
  // An error for a name that is no rule or extension, or a workload without any schedule.
  static Result<Space> make(const Task& task, const SpaceOptions& options = {});
  // An error for a sketch with a fault (space/sketch_fault.h), or of which no genome that was tried
  // is legal.
  static Result<Space> of_sketches(const Task& task, std::vector<schedule::Sketch> sketches);

  const Task& task() const { return *task_; }
  const schedule::LoopTree& initial() const { return *initial_; }
  std::span<const schedule::Sketch> sketches() const { return sketches_; }
  double size() const;  // all genomes of all sketches

 private:
  Space() = default;
  static Result<Space> begin(const Task& task);  // without sketches
  Status take(std::vector<schedule::Sketch> sketches);
  std::shared_ptr<const Task> task_;
  std::shared_ptr<const schedule::LoopTree> initial_;
  std::vector<schedule::Sketch> sketches_;
};

}  // namespace tilewright::space
