#include "graph/memory_plan.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/check.h"
#include "graph/arena_plan.h"

namespace tilewright::graph {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const Partition& partition, const MemoryOptions& options)
      : graph_(graph), partition_(partition), options_(options) {
    for (const Alias& alias : partition.aliases) alias_of_[alias.value] = alias;
  }

  MemoryPlan run() {
    plan_.places.resize(graph_.value_count());
    place_given();
    find_lifetimes();
    std::vector<Lifetime> lifetimes;
    lifetimes.reserve(arena_.size());
    for (const auto& [value, lifetime] : arena_) lifetimes.push_back(lifetime);
    plan_.live_bytes = max_alive(lifetimes);
    if (!options_.reuse) {  // as if all were alive at every step
      for (Lifetime& lifetime : lifetimes) lifetime.first = lifetime.last = 0;
    }
    const ArenaPlan arena = plan_arena(lifetimes);
    size_t next = 0;
    for (const auto& [value, lifetime] : arena_) {
      plan_.places[value] = {.home = Home::Arena, .index = 0, .offset = arena.offsets[next++]};
      plan_.sum_bytes += lifetime.bytes;
    }
    plan_.arena_bytes = arena.peak;
    for (const Alias& alias : partition_.aliases) place_alias(alias.value);
    return std::move(plan_);
  }

 private:
  // The value in whose bytes a value is stored, and the offset.
  std::pair<ValueId, int64_t> root_of(ValueId value) const {
    int64_t offset = 0;
    for (auto at = alias_of_.find(value); at != alias_of_.end(); at = alias_of_.find(value)) {
      offset += at->second.offset;
      value = at->second.of;
    }
    return {value, offset};
  }

  // Inputs, and values within outputs.
  void place_given() {
    for (size_t k = 0; k < graph_.inputs().size(); ++k) {
      set(graph_.inputs()[k], {.home = Home::Input, .index = static_cast<int64_t>(k)});
    }
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const auto [root, offset] = root_of(graph_.outputs()[k]);
      CHECK(offset == 0 && !given_.contains(root) && !graph_.value(root).is_constant(),
            "output {} is not a separate value", k);
      set(root, {.home = Home::Output, .index = static_cast<int64_t>(k)});
    }
  }

  void set(ValueId value, const ArenaSlot& place) {
    plan_.places[value] = place;
    given_[value] = place;
  }

  void find_lifetimes() {
    for (size_t step = 0; step < partition_.groups.size(); ++step) {
      for (const ValueId argument : partition_.groups[step].arguments) {
        const ValueId root = root_of(argument).first;
        if (given_.contains(root)) continue;
        const Value& value = graph_.value(root);
        if (value.is_constant()) {
          set(root, {.home = Home::Constant, .index = std::ssize(plan_.constants)});
          plan_.constants.push_back(root);
          continue;
        }
        const auto [place, added] = arena_.emplace(
            root, Lifetime{.bytes = value.type.bytes(), .first = step, .last = step});
        place->second.last = step;
      }
    }
  }

  void place_alias(ValueId value) {
    const auto [root, offset] = root_of(value);
    ArenaSlot place = plan_.places[root];
    place.offset += offset;
    plan_.places[value] = place;
  }

  const Graph& graph_;
  const Partition& partition_;
  MemoryOptions options_;
  std::map<ValueId, Alias> alias_of_;
  std::map<ValueId, ArenaSlot> given_;
  std::map<ValueId, Lifetime> arena_;
  MemoryPlan plan_;
};

}  // namespace

Result<MemoryPlan> plan_memory(const Graph& graph, const Partition& partition,
                               const MemoryOptions& options) {
  return Planner(graph, partition, options).run();
}

}  // namespace tilewright::graph
