// Candidates similar to a schedule that was written by hand, for the benchmarks of measuring.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bench/sketch_text.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "task/workload.h"

namespace tilewright::bench {

// Legal schedules similar to one written by hand, with distinct programs: factors are halved,
// doubled or changed by a step, so that some divide and some do not; all kinds of tails; loops
// unrolled or not.
class TraceVariants {
 public:
  TraceVariants(const Task& task, schedule::Trace base, uint64_t seed)
      : initial_(must(schedule::initial_tree(task.workload))), base_(std::move(base)), rng_(seed) {}

  // `count` further schedules; fewer if no more exist.
  std::vector<schedule::Trace> draw(size_t count) {
    std::vector<schedule::Trace> out;
    schedule::LoopTree tree;
    for (int tries = 0; out.size() < count && tries < 200'000; ++tries) {
      schedule::Trace trace = vary();
      if (apply(initial_, trace, &tree)) continue;
      if (seen_.insert(program_hash(tree)).second) out.push_back(std::move(trace));
    }
    return out;
  }

 private:
  int64_t vary(int64_t factor) {
    const int64_t choices[] = {factor / 2, factor * 2,     factor - 1,
                               factor + 1, factor * 3 / 2, factor * 3 / 4};
    return std::max<int64_t>(1, choices[rng_.below(std::size(choices))]);
  }

  schedule::Trace vary() {
    schedule::Trace trace;
    for (const schedule::Step& step : base_.steps) {
      schedule::Step changed = step;
      if (auto* split = std::get_if<schedule::Split>(&changed)) {
        for (int64_t& factor : split->factors) factor = rng_.chance(0.4) ? vary(factor) : factor;
        if (rng_.chance(0.2)) split->tail = static_cast<schedule::Tail>(rng_.below(4));
      }
      const auto* mark = std::get_if<schedule::Annotate>(&changed);
      const bool unroll = mark != nullptr && mark->how == schedule::Annotation::Unroll;
      if (!unroll || !rng_.chance(0.1)) trace.steps.push_back(changed);
    }
    return trace;
  }

  schedule::LoopTree initial_;
  schedule::Trace base_;
  Rng rng_;
  std::set<Hash128> seen_;
};

}  // namespace tilewright::bench
