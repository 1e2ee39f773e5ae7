#include "schedule/factors.h"

#include "base/check.h"

namespace tilewright::schedule {
namespace {

Factors fused_factors(const Trace& trace, const FollowFusedSplit& step);

// The factors of the split of a loop, which exists because the structure was checked. Loops that
// rfactor moved may have been split before.
Factors source_factors(const Trace& trace, StageName stage, Name loop) {
  for (const Step& step : trace.steps) {
    const auto* split = std::get_if<Split>(&step);
    if (split != nullptr && split->stage == stage && split->loop == loop) return split->factors;
    const auto* follow = std::get_if<FollowSplit>(&step);
    if (follow != nullptr && follow->stage == stage && follow->loop == loop) {
      return followed_factors(*follow, source_factors(trace, follow->source, follow->source_loop));
    }
    const auto* fused = std::get_if<FollowFusedSplit>(&step);
    if (fused != nullptr && fused->stage == stage && fused->loop == loop) {
      return fused_factors(trace, *fused);
    }
  }
  CHECK(stage.role == StageRole::Rfactor, "no split of {} {}", stage.text(), loop.text());
  return source_factors(trace, {.op = stage.op}, loop);
}

Factors fused_factors(const Trace& trace, const FollowFusedSplit& step) {
  constexpr int64_t kMany = int64_t{1} << 40;
  int64_t product = 1;
  for (const Name& loop : step.source_loops) {
    const Factors factors = source_factors(trace, step.source, loop);
    const int64_t factor = factors[static_cast<size_t>(step.level)];
    product = factor > kMany / product ? kMany : product * factor;
  }
  return {product};
}

}  // namespace

Factors factors_of(const Trace& trace, int16_t step) {
  const Step& made = trace.steps[static_cast<size_t>(step)];
  if (const auto* split = std::get_if<Split>(&made)) return split->factors;
  if (const auto* follow = std::get_if<FollowSplit>(&made)) {
    return followed_factors(*follow, source_factors(trace, follow->source, follow->source_loop));
  }
  return fused_factors(trace, std::get<FollowFusedSplit>(made));
}

}  // namespace tilewright::schedule
