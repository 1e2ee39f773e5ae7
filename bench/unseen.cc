// ./dev bench unseen: operators outside the table (tests/e2e/unseen_operators.h), tuned with 200
// trials each (64 without --full). Shows the share of valid candidates among the measured ones
// (bar: over 90 %) and the speed of the winner relative to the naive schedule (the unscheduled
// loops on one thread), measured in alternation (bar: 10 x). The exit status is 1 if a bar is not
// reached. This is part 5 of bench search.
#include "bench/measuring.h"
#include "bench/rows.h"
#include "tests/e2e/unseen_operators.h"
#include "tune/tuning.h"

namespace tilewright::bench {
namespace {

constexpr double kBarValid = 90;
constexpr double kBarSpeedUp = 10;

struct Shown {
  double valid = 0;
  double speed_up = 0;
};

// Counts verdicts as they come.
class Tally : public tune::LoopListener {
 public:
  void on_trial(size_t /*task*/, const tune::Proposal& /*proposal*/,
                const tune::Trial& trial) override {
    ++trials;
    if (record::is_failure(trial.kind)) ++failures;
  }
  void on_round(size_t /*task*/, const tune::RoundReport& /*report*/) override {}
  int64_t trials = 0, failures = 0;
};

Shown run_one(const unseen::UnseenOperator& op, int64_t trials) {
  const Task task{.workload = op.workload, .target = host_target(bench_threads())};
  ScratchStore scratch("unseen");
  const measure::SessionOptions session = session_options("bench unseen");
  tune::TuningOptions options;
  options.measure = session.measure;
  options.trials = trials;
  options.command = session.command;
  options.version = session.version;
  tune::Tuning tuning =
      must(tune::Tuning::start({{.task = task, .weight = 1}}, scratch.store(), options));
  Tally tally;
  must(tuning.run(&tally));
  const tune::TaskResult result = tuning.result(0);
  CHECK(result.winner() != nullptr, "{}: nothing valid: {}", op.name, result.problem);
  measure::Session last = must(measure::Session::start(task, scratch.store(), session));
  const std::vector<schedule::Trace> both = {result.winner()->trace, schedule::Trace{}};
  const auto answers = must(last.compare(both));
  const double ours = answers[0].attempt.verdict.latency_ns;
  const double naive = answers[1].attempt.verdict.latency_ns;
  Shown shown{.valid = 1 - static_cast<double>(tally.failures) / static_cast<double>(tally.trials),
              .speed_up = naive / ours};
  fmt::print(
      "{:<24} {:>4} trials  {:5.1f} % valid  {:9.1f} us  {:6.1f} GFLOP/s  naive {:10.1f} us"
      "  {:6.1f} x\n",
      op.name, tally.trials, 100 * shown.valid, ours / 1e3, task.workload.dag->flop() / ours,
      naive / 1e3, shown.speed_up);
  return shown;
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  double min_valid = 1, min_speed_up = 1e9;
  for (const unseen::UnseenOperator& op : unseen::unseen_operators()) {
    const Shown shown = run_one(op, flags.full ? 200 : 64);
    rows.add(op.name, "valid_share", shown.valid);
    rows.add(op.name, "vs_naive", shown.speed_up);
    min_valid = std::min(min_valid, shown.valid);
    min_speed_up = std::min(min_speed_up, shown.speed_up);
  }
  fmt::print("\n");
  print_floor("valid candidates, the fewest", 100 * min_valid, kBarValid, "%");
  print_floor("against the naive schedule, the least", min_speed_up, kBarSpeedUp, "x");
  return 100 * min_valid > kBarValid && min_speed_up >= kBarSpeedUp ? 0 : 1;
}

}  // namespace tilewright::bench
