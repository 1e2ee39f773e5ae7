// Space: all schedules of a task that a search may try, as sketches (traces with holes). Sketches
// are derived by rules (space/rule.h), declared by a template (space/template.h), or passed in. The
// same task and options give the same sketches. Immutable; may be shared between threads.
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

// A part of the space that Ansor does not have. Each can be turned off by name.
struct Extension {
  std::string_view name;  // `pack`, `register_read`, `tails`, `unroll_and_jam`, ...
  std::string_view what;
};
std::span<const Extension> extensions();

struct SpaceOptions {
  std::vector<std::string> off{};    // names of rules and extensions; an unknown one is an error
  std::vector<SketchRule> custom{};  // tried before the built-in ones
  int cores = 0;  // number of cores that the rules assume; 0: the threads of the target
  // The template that declares the sketches; empty: the rules derive them.
  std::optional<Selection> from{};
  TemplateTable templates = space::templates();
};

// An error if a name in `off` is neither a rule nor an extension, or if `off` is used with a
// template.
Status check_off(const SpaceOptions& options, const Target& target);

class Space {
 public:
  // An error for an unknown name in `off`, a sketch of a custom rule with a fault
  // (space/sketch_fault.h), or a workload without any schedule.
  static Result<Space> make(const Task& task, const SpaceOptions& options = {});
  // The sketches of a caller, which are not the result of options. An error for a sketch with a
  // fault, or of which no genome that was tried is legal.
  static Result<Space> of_sketches(const Task& task, std::vector<schedule::Sketch> sketches);

  const Task& task() const { return *task_; }
  const schedule::LoopTree& initial() const { return *initial_; }
  std::span<const schedule::Sketch> sketches() const { return sketches_; }
  double size() const;  // number of genomes of all sketches

 private:
  Space() = default;
  static Result<Space> begin(const Task& task);  // without sketches
  Status take(std::vector<schedule::Sketch> sketches);
  std::shared_ptr<const Task> task_;
  std::shared_ptr<const schedule::LoopTree> initial_;
  std::vector<schedule::Sketch> sketches_;
};

}  // namespace tilewright::space
