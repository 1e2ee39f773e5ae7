#include "space/space.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <iterator>
#include <utility>

#include "schedule/apply.h"
#include "space/annotate.h"
#include "space/sketch_fault.h"
#include "space/sketch_rules.h"

namespace tilewright::space {
namespace {

constexpr std::array<Extension, 10> kExtensions = {{
    {"locations", "cheap stages may also be computed at a loop of their reader"},
    {"pack", "operands that are reused are stored in the order of the reads"},
    {"prefetch",
     "constants that a reduction reads are prefetched: some iterations ahead, or the next tile"},
    {"reduction_lanes",
     "lanes of a reduction hold partial results; rfactor only where there are few rows"},
    {"register_read", "small operands are kept in registers"},
    {"rows", "a tiled stage is computed by blocks of rows of the nest that reads it"},
    {"stream", "large results are written by non-temporal stores"},
    {"tails", "tile sizes that do not divide"},
    {"tile_structures", "shorter tile structures, other lanes, other loop orders"},
    {"unroll_and_jam", "parts of a reduction are unrolled next to the accumulators"},
}};

constexpr size_t kMaxSketches = 200;
constexpr int kTries = 400;  // genomes tried before a sketch is dropped

struct Work {
  Draft draft;
  StageName stage;
};

std::vector<NextDraft> next_drafts(const SpaceContext& context, std::span<const SketchRule> rules,
                                   const Work& at) {
  std::vector<NextDraft> all;
  for (const SketchRule& rule : rules) {
    const Applies applies = rule.applies(context, at.draft, at.stage);
    if (applies == Applies::No) continue;
    for (NextDraft& next : rule.apply(context, at.draft, at.stage)) all.push_back(std::move(next));
    if (applies == Applies::SkipTheRest) break;
  }
  return all;
}

std::vector<Draft> all_drafts(const SpaceContext& context, std::span<const SketchRule> rules) {
  std::vector<Draft> whole;
  std::deque<Work> work;
  size_t turn = 0;
  StageName last;
  for (const te::Op& op : context.dag().ops()) {
    if (op.kind != te::OpKind::Placeholder) last = {op.name};
  }
  work.push_back({{}, last});
  while (!work.empty()) {
    const Work at = std::move(work.front());
    work.pop_front();
    if (at.stage.op.empty()) {
      whole.push_back(at.draft);
      continue;
    }
    std::vector<NextDraft> next = next_drafts(context, rules, at);
    // Each draft becomes at least one sketch. If there would be too many, drafts no longer branch;
    // they take the alternatives in rotation.
    if (!next.empty() && whole.size() + work.size() + next.size() > kMaxSketches) {
      std::swap(next[0], next[turn++ % next.size()]);
      next.resize(1);
    }
    for (NextDraft& each : next) work.push_back({std::move(each.draft), each.stage});
  }
  return whole;
}

bool has_legal_genome(const schedule::LoopTree& initial, const schedule::Sketch& sketch) {
  Rng rng(1);
  schedule::Trace trace;
  schedule::LoopTree tree;
  for (int k = 0; k < kTries; ++k) {
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    if (!schedule::apply(initial, trace, &tree)) return true;
    if (sketch.holes.empty()) return false;
  }
  return false;
}

std::vector<SketchRule> all_rules(const SpaceOptions& options, const Target& target) {
  std::vector<SketchRule> rules = options.custom;
  for (SketchRule& rule : sketch_rules(target)) rules.push_back(std::move(rule));
  return rules;
}

Status check_names(const SpaceOptions& options, std::span<const SketchRule> rules) {
  for (const std::string& name : options.off) {
    const bool rule = std::ranges::find(rules, name, &SketchRule::name) != rules.end();
    const bool extension =
        std::ranges::find(kExtensions, name, &Extension::name) != kExtensions.end();
    if (rule || extension) continue;
    std::string known;
    for (const SketchRule& each : rules) known += (known.empty() ? "" : ", ") + each.name;
    for (const Extension& each : kExtensions) known += fmt::format(", {}", each.name);
    return fail(ErrorKind::BadInput,
                fmt::format("no rule or extension is called {}; there are {}", name, known));
  }
  return {};
}

}  // namespace

std::span<const Extension> extensions() { return kExtensions; }

Status check_off(const SpaceOptions& options, const Target& target) {
  if (options.from) {
    if (options.off.empty() && options.custom.empty()) return {};
    return fail(ErrorKind::BadInput,
                fmt::format("template {}: rules have no part in its space", options.from->name));
  }
  return check_names(options, all_rules(options, target));
}

Result<Space> Space::begin(const Task& task) {
  Space space;
  space.task_ = std::make_shared<const Task>(task);
  space.initial_ = std::make_shared<const schedule::LoopTree>(
      TRY(schedule::initial_tree(space.task_->workload)));
  return space;
}

Status Space::take(std::vector<schedule::Sketch> sketches) {
  if (sketches.empty()) return fail(ErrorKind::BadInput, "there are no sketches");
  for (size_t k = 0; k < sketches.size(); ++k) {
    std::string why = fault_of(sketches[k]);
    if (why.empty() && !has_legal_genome(*initial_, sketches[k]))
      why = "no legal schedule was found";
    if (why.empty()) continue;
    return fail(ErrorKind::BadInput, fmt::format("{}: sketch {} {}: {}", task_->workload.text, k,
                                                 sketches[k].name, why));
  }
  sketches_ = std::move(sketches);
  return {};
}

Result<Space> Space::of_sketches(const Task& task, std::vector<schedule::Sketch> sketches) {
  Space space = TRY(begin(task));
  TRY(space.take(std::move(sketches)));
  return space;
}

Result<Space> Space::make(const Task& task, const SpaceOptions& options) {
  TRY(check_off(options, task.target));
  Space space = TRY(begin(task));
  if (options.from) {
    TRY(space.take(TRY(options.templates.make(
        *options.from, {.task = space.task_.get(), .initial = space.initial_.get()}))));
    return space;
  }
  std::vector<SketchRule> rules = all_rules(options, task.target);
  std::erase_if(rules, [&](const SketchRule& rule) {
    return std::ranges::find(options.off, rule.name) != options.off.end();
  });
  schedule::LoopTree plain;
  if (schedule::apply(*space.initial_, {}, &plain)) plain = *space.initial_;
  const SpaceContext context{.task = space.task_.get(),
                             .initial = space.initial_.get(),
                             .plain = &plain,
                             .cores = options.cores > 0 ? options.cores : task.target.threads(),
                             .off = {options.off.begin(), options.off.end()}};
  for (Draft& draft : all_drafts(context, rules)) {
    schedule::Sketch sketch = annotate(context, std::move(draft));
    // The sketches of built-in rules have no faults: tests check them.
    if (const std::string why = options.custom.empty() ? "" : fault_of(sketch); !why.empty()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: sketch {}: {}", task.workload.text, sketch.name, why));
    }
    if (has_legal_genome(*space.initial_, sketch)) space.sketches_.push_back(std::move(sketch));
  }
  if (space.sketches_.empty()) {
    std::string why;
    for (const std::string& name : options.off) why += (why.empty() ? " without " : ", ") + name;
    if (!why.empty()) why += "; leave some of that on";
    return fail(options.off.empty() ? ErrorKind::Unsupported : ErrorKind::BadInput,
                fmt::format("{}: no schedule was found{}", task.workload.text, why));
  }
  return space;
}

double Space::size() const {
  double size = 0;
  for (const schedule::Sketch& sketch : sketches_) size += sketch.size();
  return size;
}

}  // namespace tilewright::space
