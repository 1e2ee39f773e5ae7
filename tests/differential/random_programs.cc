#include "random_programs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "failure_report.h"
#include "random_sketch.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "settings.h"

namespace tilewright::testing {
namespace {

constexpr int kPrograms = 4;  // per sketch
constexpr int kDraws = 12;    // at most, to get them

const codegen::BackEnd* row_for(const RandomProgramOptions& options) {
  const auto row = codegen::back_end_for(options.target, options.rows);
  return row ? *row : nullptr;
}

}  // namespace

uint64_t seed_setting() {
  return static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1));
}

RandomPrograms::RandomPrograms(uint64_t seed, const RandomProgramOptions& options)
    : rng_(seed),
      target_(options.target),
      options_{.compiled = options.compiled, .back_end = row_for(options)} {}

void RandomPrograms::run(int64_t programs) {
  const int64_t max_failures = setting("TILEWRIGHT_DIFFERENTIAL_FAILURES", 1);
  while (tally_.programs < programs && tally_.failures < max_failures) run_sketch(programs);
}

void RandomPrograms::run_sketch(int64_t programs) {
  const WorkloadKind& kind = kind_ != nullptr ? *kind_ : random_kind(rng_);
  Workload drawn = random_workload(kind, rng_);
  if (parts_) drawn = with_parts(drawn, rng_);
  const uint64_t seed = rng_.next();
  ProgramChecker checker({drawn, target_}, seed);
  const Workload& workload = checker.task().workload;
  const schedule::LoopTree initial = schedule::initial_tree(workload).value();
  const schedule::Sketch sketch = random_sketch(workload, target_, rng_);
  schedule::Trace trace;
  schedule::LoopTree tree;
  const int64_t enough = std::min(programs, tally_.programs + kPrograms);
  for (int draw = 0; draw < kDraws && tally_.programs < enough; ++draw) {
    schedule::instantiate(sketch, schedule::sample(sketch, rng_), &trace);
    if (const schedule::Illegal reason = schedule::apply(initial, trace, &tree)) {
      ++tally_.illegal;
      EXPECT_TRUE(schedule::explain(initial, trace, reason).starts_with("illegal "));
    } else if (!filter_ || filter_(checker.task(), tree, trace)) {
      tally_.count(kind.name, tree, trace);
      check(checker, seed, initial, tree, trace);
    }
  }
  tally_.regions.add(checker.regions());
  tally_.compared += checker.compared();
  tally_.unbounded += checker.unbounded();
}

void RandomPrograms::check(ProgramChecker& checker, uint64_t seed,
                           const schedule::LoopTree& initial, const schedule::LoopTree& tree,
                           const schedule::Trace& trace) {
  Interpreted interpreted;
  options_.interpreted = &interpreted;
  const auto failure = checker.check(tree, trace, options_);
  options_.interpreted = nullptr;
  if (failure) {
    ++tally_.failures;
    ADD_FAILURE() << "case " << tally_.programs << ": "
                  << failure_report(checker, initial, trace, options_, *failure);
  } else if (consumer_) {
    consumer_({checker.task(), seed, trace}, std::move(interpreted));
  }
}

}  // namespace tilewright::testing
