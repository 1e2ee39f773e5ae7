// For tests: a TrialRunner that computes the latency of a program from its hash and compiles
// nothing. It counts the trials of each program, and can stop after a given number. Also a short
// search of a small task.
#pragma once

#include <map>
#include <set>
#include <stdexcept>

#include "task/parse.h"
#include "tune/task_tuner.h"
#include "tune/trial.h"

namespace tilewright::tune {

// Small and fast: these tests cover the loop around the search.
inline TaskTunerOptions quick_options() {
  TaskTunerOptions options;
  options.search = *options.tables.explorers.parse("evolution:population=128,generations=2");
  options.threads = 1;
  return options;
}

class FakeTrials : public TrialRunner {
 public:
  Status run(std::span<const Proposal> proposals, const Report& report) override {
    // In reverse, because results may arrive in any order.
    for (size_t k = proposals.size(); k-- > 0;) {
      const Proposal& proposal = proposals[k];
      const auto known = verdicts.find(proposal.program);
      if (known == verdicts.end() && left == 0) continue;
      Trial trial = known != verdicts.end() ? known->second : verdict_of(proposal.program);
      trial.stored = known != verdicts.end();
      if (!trial.stored) {
        verdicts.emplace(proposal.program, trial);
        measured.push_back(proposal.program);
        if (left > 0) --left;
      }
      report(k, trial);
    }
    return {};
  }

  Trial verdict_of(const Hash128& program) const {
    using record::VerdictKind;
    const auto special = given.find(program);
    if (special != given.end()) {
      return {.kind = VerdictKind::Timed, .latency_ns = special->second, .attempt = program};
    }
    const uint64_t draw = program.high % 100;
    const double latency_ns = 1e5 * (1 + static_cast<double>(program.low % 1000) / 50);
    if (all_fail || draw < 5) {
      return {.kind = VerdictKind::WrongResult, .attempt = program, .text = "element 3 is wrong"};
    }
    if (draw < 15) {
      return {.kind = VerdictKind::Censored, .latency_ns = 9e6, .attempt = program};
    }
    return {.kind = VerdictKind::Timed, .latency_ns = latency_ns, .attempt = program};
  }

  std::map<Hash128, Trial> verdicts;  // verdicts of the simulated store
  std::map<Hash128, double> given;    // latencies of selected programs
  std::vector<Hash128> measured;      // in order, over all runs
  int64_t left = -1;                  // trials that remain; negative: unlimited
  bool all_fail = false;
};

inline Task small_task() {
  return {.workload = *parse_workload("matmul:m=64,n=48,k=32"),
          .target = *parse_target("x86-64-v3;threads=2")};
}

inline TaskTuner make_tuner(const TaskTunerOptions& options, std::span<const PastTrial> past = {}) {
  Result<TaskTuner> tuner = TaskTuner::make(small_task(), detect_machine(), options, past);
  if (!tuner) throw std::runtime_error(tuner.error().message);
  return std::move(*tuner);
}

inline RoundReport play(TaskTuner& tuner, TrialRunner& runner, size_t limit = 1000) {
  Result<RoundReport> report = tuner.try_round(runner, limit);
  if (!report) throw std::runtime_error(report.error().message);
  return *report;
}

inline Hash128 hash_for(const TaskTunerOptions& options) {
  const std::vector<Task> tasks = {small_task()};
  return hash_of(options, tasks, detect_machine()).value();
}

}  // namespace tilewright::tune
