// ./dev bench ranking: measures whether the adaptive protocol selects the fastest candidate. For
// sets of random schedules of C2D2:
//
//   adaptive   all of them by the ordinary protocol, then the finals: one is chosen
//   long       all that are right again, 1 s each in 5 interleaved rounds, in groups; the chosen
//              one is in every group; times are taken against it, so that the speed of the machine
//              at that moment cancels
//
// The results are how much slower the chosen one is than the best of the long protocol, and the
// time of the adaptive protocol as a share of that of the long one. The default is one set of 60;
// with --full 5 sets of 300 (half an hour).
#include "base/quantile.h"
#include "bench/measuring.h"
#include "bench/rows.h"
#include "space/random_trace.h"

namespace tilewright::bench {
namespace {

constexpr double kLossBar = 3;   // percent
constexpr double kTimeBar = 20;  // percent
constexpr size_t kGroup = 50;    // kernels loaded at once, in addition to the chosen one
constexpr int kRounds = 5;
constexpr const char* kWhat = "C2D2";

struct Size {
  int sets, candidates;
  double long_ms;  // of each candidate, all rounds together
};

struct Outcome {
  int64_t right = 0;  // of the candidates
  double adaptive_s = 0, long_s = 0;
  double chosen_us = 0;  // by the finals
  double loss = 0;       // chosen / best - 1, both long
  int64_t rank = 1;      // of the chosen one in the long protocol
};

// The long latency of each trace over that of traces[chosen] in the same group; 0: it failed.
std::vector<double> long_ratios(measure::Measurer& measurer,
                                const std::vector<schedule::Trace>& traces, size_t chosen,
                                double long_ms) {
  std::vector<double> ratios(traces.size(), 0);
  ratios[chosen] = 1;
  std::vector<size_t> others;
  for (size_t k = 0; k < traces.size(); ++k) {
    if (k != chosen) others.push_back(k);
  }
  for (size_t begin = 0; begin < others.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, others.size());
    std::vector<schedule::Trace> group = {traces[chosen]};
    for (size_t k = begin; k < end; ++k) group.push_back(traces[others[k]]);
    const auto measured = must(measurer.compare(group, kRounds, long_ms / kRounds));
    const record::Verdict& anchor = measured[0].verdict;
    CHECK(anchor.kind == record::VerdictKind::Timed, "the chosen one failed: {}", anchor.text);
    for (size_t k = begin; k < end; ++k) {
      const record::Verdict& verdict = measured[k - begin + 1].verdict;
      if (verdict.kind != record::VerdictKind::Timed) continue;
      ratios[others[k]] = verdict.latency_ns / anchor.latency_ns;
    }
  }
  return ratios;
}

Outcome run_set(const Task& task, const Size& size, int set) {
  Outcome out;
  Rng rng(static_cast<uint64_t>(set + 1));
  const auto candidates = space::random_traces(task, static_cast<size_t>(size.candidates), rng);
  ScratchStore scratch("ranking");
  measure::Session session =
      must(measure::Session::start(task, scratch.store(), session_options("bench ranking")));
  double start = seconds_now();
  const std::vector<measure::Answer> answers = measure_all(session, candidates);
  const std::vector<measure::Answer> finals = must(session.finals(8));
  out.adaptive_s = seconds_now() - start;

  std::vector<schedule::Trace> right;
  std::vector<Hash128> programs;
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (is_failure(answers[k].attempt.verdict.kind)) continue;
    right.push_back(candidates[k]);
    programs.push_back(answers[k].attempt.program);
  }
  out.right = static_cast<int64_t>(right.size());
  size_t chosen = programs.size();
  for (const measure::Answer& final : finals) {  // the default schedule is not one of them
    chosen = static_cast<size_t>(
        std::find(programs.begin(), programs.end(), final.attempt.program) - programs.begin());
    out.chosen_us = final.attempt.verdict.latency_ns * 1e-3;
    if (chosen < programs.size()) break;
  }
  CHECK(chosen < programs.size(), "no candidate was chosen");

  start = seconds_now();
  const std::vector<double> ratios = long_ratios(session.measurer(), right, chosen, size.long_ms);
  out.long_s = seconds_now() - start;
  double best = 1;
  for (const double ratio : ratios) {
    if (ratio <= 0) continue;
    best = std::min(best, ratio);
    if (ratio < 1) ++out.rank;
  }
  out.loss = 1 / best - 1;
  return out;
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  const Size size = flags.full ? Size{.sets = 5, .candidates = 300, .long_ms = 1000}
                               : Size{.sets = 1, .candidates = 60, .long_ms = 1000};
  const Task task = task_of(kWhat);
  std::vector<double> losses;
  std::vector<double> shares;
  fmt::print(
      "{} sets of {} random schedules of {}, {} threads; long: {:.0f} ms each in {} rounds\n",
      size.sets, size.candidates, kWhat, bench_threads(), size.long_ms, kRounds);
  fmt::print("{:<6}{:>8}{:>12}{:>14}{:>8}{:>13}{:>10}{:>9}\n", "set", "right", "chosen us",
             "behind best", "rank", "adaptive s", "long s", "share");
  for (int set = 0; set < size.sets; ++set) {
    const Outcome outcome = run_set(task, size, set);
    const double share = outcome.adaptive_s / outcome.long_s;
    fmt::print("{:<6}{:>8}{:>12.1f}{:>12.2f} %{:>8}{:>13.1f}{:>10.1f}{:>7.1f} %\n", set,
               outcome.right, outcome.chosen_us, 100 * outcome.loss, outcome.rank,
               outcome.adaptive_s, outcome.long_s, 100 * share);
    std::fflush(stdout);
    losses.push_back(100 * outcome.loss);
    shares.push_back(100 * share);
    const std::string name = fmt::format("ranking/{}", set);
    rows.add(name, "loss_percent", 100 * outcome.loss);
    rows.add(name, "rank", outcome.rank);
    rows.add(name, "adaptive_s", outcome.adaptive_s);
    rows.add(name, "long_s", outcome.long_s);
  }
  rows.add("ranking", "loss_percent", median_of(losses));
  rows.add("ranking", "time_percent", median_of(shares));
  fmt::print("\n");
  print_verdict("the chosen one behind the best, median", median_of(losses), kLossBar, "%");
  print_verdict("time of the long protocol, median", median_of(shares), kTimeBar, "%");
  return 0;
}

}  // namespace tilewright::bench
