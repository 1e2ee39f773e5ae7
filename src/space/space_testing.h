// For tests of spaces: tasks and spaces (creating them must succeed), and random programs of them.
#pragma once

#include <string_view>

#include "base/check.h"
#include "base/rng.h"
#include "schedule/apply.h"
#include "space/space.h"
#include "task/parse.h"

namespace tilewright::space {

inline Task task_of(std::string_view text, std::string_view target = "x86-64-v4;threads=2") {
  Result<Workload> workload = parse_workload(text);
  CHECK(workload.has_value(), "{}", workload.error().message);
  return {*workload, parse_target(target).value()};
}

inline Space space_of(const Task& task, const SpaceOptions& options = {}) {
  Result<Space> space = Space::make(task, options);
  CHECK(space.has_value(), "{}", space.error().message);
  return *std::move(space);
}

// Calls `look` with the trees of `count` random programs: sketches are drawn uniformly, holes
// filled at random, illegal programs skipped.
template <class Look>
void for_random_trees(const Space& space, int count, const Look& look) {
  Rng rng(7);
  schedule::Trace trace;
  schedule::LoopTree tree;
  for (int n = 0; n < count;) {
    const schedule::Sketch& sketch = space.sketches()[rng.below(space.sketches().size())];
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    if (schedule::apply(space.initial(), trace, &tree)) continue;
    look(tree);
    ++n;
  }
}

}  // namespace tilewright::space
