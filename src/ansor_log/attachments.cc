// Ansor's steps that attach or create stages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ansor_log/replay.h"
#include "base/json.h"

namespace tilewright::ansor_log {

using schedule::LoopTree;
using schedule::StageIndex;

Status Replay::compute_at(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  StageState* const target = TRY(stage_at(json, 2));
  const int64_t number = TRY(integer(json, 3));
  const size_t loop = TRY(loop_at(*target, number));
  stage->target = target->name;
  stage->at = target->loops[loop].name;
  return {};
}

Status Replay::compute_inline(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  text_ += fmt::format("compute_inline {}\n", stage->name);
  return {};
}

Status Replay::compute_root(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  stage->at.clear();
  stage->target.clear();
  return {};
}

Status Replay::cache_write(const Json& json) {
  const size_t at = TRY(position(json, 1));
  StageState written = stages_[at];
  text_ += fmt::format("cache_write {}\n", written.name);
  std::erase_if(stages_[at].loops, [](const Loop& loop) { return loop.reduce; });
  written.name += ".write";
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at), std::move(written));
  return {};
}

Status Replay::cache_read(const Json& json) {
  const size_t at = TRY(position(json, 1));
  const std::vector<int64_t> readers = TRY(integers(json, 3));
  std::vector<std::string> list;
  for (const int64_t reader : readers) {
    if (reader < 0 || reader >= std::ssize(stages_)) return refuse("there is no such reader");
    list.push_back(stages_[static_cast<size_t>(reader)].name);
  }
  const std::string name = stages_[at].name;
  const int ordinal = reads_[name]++;
  text_ += fmt::format("cache_read {} [{}]{}\n", name, fmt::join(list, ", "),
                       ordinal == 0 ? "" : fmt::format(" ordinal={}", ordinal));
  StageState made =
      TRY(made_stage(ordinal == 0 ? name + ".read" : fmt::format("{}.read.{}", name, ordinal)));
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(made));
  return {};
}

Status Replay::rfactor(const Json& json) {
  const size_t at = TRY(position(json, 1));
  const LoopRef where = TRY(loop_ref(json));
  const int64_t to = TRY(integer(json, 3));
  const std::string name = where.stage->name;
  const std::string factored = where.stage->loops[where.loop].name;
  text_ += fmt::format("rfactor {} {}\n", name, factored);
  StageState made = TRY(made_stage(name + ".rfactor"));
  StageState rest = TRY(made_stage(name));
  // There, the factored loop is a spatial loop at the position given by the step.
  auto& loops = made.loops;
  const auto found = std::ranges::find(loops, factored, &Loop::name);
  if (found == loops.end() || to < 0 || to >= std::ssize(loops)) {
    return refuse("its loop has no place in the factored stage");
  }
  Loop loop = std::move(*found);
  loops.erase(found);
  loops.insert(loops.begin() + to, std::move(loop));
  write_order(made);
  stages_[at] = std::move(rest);
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at), std::move(made));
  return {};
}

Result<StageState> Replay::made_stage(const std::string& name) const {
  const LoopTree tree = TRY(tree_of(text_));
  const auto parsed = schedule::StageName::parse(name);
  const StageIndex stage = parsed ? tree.find_stage(*parsed) : schedule::kNone;
  if (stage == schedule::kNone) return refuse(fmt::format("there is no stage {}", name));
  return state_of(tree, stage);
}

}  // namespace tilewright::ansor_log
