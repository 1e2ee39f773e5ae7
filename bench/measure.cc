// ./dev bench measure: the rate of trials. For each workload:
//
//   explore   schedules near the one written by hand (bench/traces) and random ones are measured;
//             those within 5 x of the best known are kept
//   measure   those again, with an empty store: built, checked, timed, stored
//
// The reported trials are those of `measure`, all of which are timed; censored and failed
// candidates of `explore` are reported separately. Overhead is the wall time outside of the runs of
// the kernel. All checks are on, and every verdict is durable before it counts.
#include <array>

#include "bench/measuring.h"
#include "bench/rows.h"
#include "bench/trace_variants.h"
#include "space/random_trace.h"

namespace tilewright::bench {
namespace {

constexpr double kRateBar = 30;
constexpr double kOverheadBarMs = 20;
constexpr double kNear = 5;  // x the best

struct Counts {
  std::array<int64_t, record::kVerdictKinds> by_kind{};
  double seconds = 0;

  void add(const std::vector<measure::Answer>& answers) {
    for (const measure::Answer& a : answers) ++by_kind[static_cast<size_t>(a.attempt.verdict.kind)];
  }
  int64_t count(record::VerdictKind kind) const { return by_kind[static_cast<size_t>(kind)]; }
  int64_t total() const {
    int64_t sum = 0;
    for (const int64_t count : by_kind) sum += count;
    return sum;
  }
};

struct Near {
  std::vector<schedule::Trace> traces;
  double best_ns = 0;
  double hand_ns = 0;
  Counts explored;
};

// Explores until `wanted` candidates are near the best, or the space or the limit of attempts is
// exhausted.
Near explore(const std::string& what, const Task& task, size_t wanted) {
  Near out;
  Rng rng(2024);
  TraceVariants variants(task, hand_trace(what), 2024);
  ScratchStore scratch("explore");
  measure::Session session =
      must(measure::Session::start(task, scratch.store(), session_options("bench measure")));
  std::vector<schedule::Trace> traces = {hand_trace(what)};
  std::vector<double> latencies_ns;
  for (int round = 0; round < 10; ++round) {
    std::vector<schedule::Trace> drawn = variants.draw(wanted);
    if (round == 0) {
      drawn.insert(drawn.begin(), traces[0]);
      traces.clear();
      for (auto& trace : space::random_traces(task, wanted / 2, rng)) {
        drawn.push_back(std::move(trace));
      }
    }
    const double start = seconds_now();
    const std::vector<measure::Answer> answers = measure_all(session, drawn);
    out.explored.seconds += seconds_now() - start;
    out.explored.add(answers);
    if (round == 0) out.hand_ns = answers[0].attempt.verdict.latency_ns;
    for (size_t k = 0; k < drawn.size(); ++k) {
      if (answers[k].attempt.verdict.kind != record::VerdictKind::Timed) continue;
      traces.push_back(std::move(drawn[k]));
      latencies_ns.push_back(answers[k].attempt.verdict.latency_ns);
    }
    if (latencies_ns.empty()) continue;
    out.best_ns = *std::min_element(latencies_ns.begin(), latencies_ns.end());
    const auto near = std::count_if(latencies_ns.begin(), latencies_ns.end(),
                                    [&](double ns) { return ns <= kNear * out.best_ns; });
    if (static_cast<size_t>(near) >= wanted) break;
  }
  for (size_t k = 0; k < traces.size(); ++k) {
    if (latencies_ns[k] <= kNear * out.best_ns) out.traces.push_back(std::move(traces[k]));
  }
  for (size_t k = out.traces.size(); k > 1; --k) {
    std::swap(out.traces[k - 1], out.traces[rng.below(k)]);
  }
  if (out.traces.size() > wanted) out.traces.resize(wanted);
  return out;
}

struct Rate {
  double start_s = 0;  // of the session: workers, inputs, reference
  double wall_s = 0;   // of the trials
  Counts counts;
  measure::Shares shares;  // of the trials

  double timed_per_s() const {
    return static_cast<double>(counts.count(record::VerdictKind::Timed)) / wall_s;
  }
  double overhead_ms() const {
    return (wall_s * 1e3 - shares.kernel_ns * 1e-6) / static_cast<double>(counts.total());
  }
};

measure::Shares difference(const measure::Shares& after, const measure::Shares& before) {
  measure::Shares out = after;
  out.wall_ns -= before.wall_ns;
  out.build_cpu_ns -= before.build_cpu_ns;
  out.build_ns -= before.build_ns;
  out.check_ns -= before.check_ns;
  out.time_ns -= before.time_ns;
  out.kernel_ns -= before.kernel_ns;
  out.idle_ns -= before.idle_ns;
  return out;
}

Rate measure_near(const Task& task, const std::vector<schedule::Trace>& traces) {
  Rate out;
  ScratchStore scratch("measure");
  const double begin = seconds_now();
  measure::Session session =
      must(measure::Session::start(task, scratch.store(), session_options("bench measure")));
  out.start_s = seconds_now() - begin;
  const measure::Shares before = session.measurer().shares();
  const double start = seconds_now();
  out.counts.add(measure_all(session, traces));
  out.wall_s = seconds_now() - start;
  out.shares = difference(session.measurer().shares(), before);
  return out;
}

void report(const std::string& name, const Near& near, const Rate& rate, Rows* rows) {
  const double wall_ns = rate.wall_s * 1e9;
  const auto share = [&](double ns) { return 100 * ns / wall_ns; };
  const int64_t timed = rate.counts.count(record::VerdictKind::Timed);
  const int64_t censored = rate.counts.count(record::VerdictKind::Censored);
  fmt::print("{:<9}{:>7}{:>7}{:>9}{:>10.1f}{:>10.2f}{:>10.2f}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}\n",
             name, timed, censored, rate.counts.total() - timed - censored, rate.timed_per_s(),
             rate.overhead_ms(),
             rate.shares.build_cpu_ns * 1e-6 / static_cast<double>(rate.counts.total()),
             share(rate.shares.build_ns), share(rate.shares.check_ns), share(rate.shares.time_ns),
             share(rate.shares.idle_ns));
  rows->add(name, "trials_per_s", rate.timed_per_s());
  rows->add(name, "trials", rate.counts.total());
  rows->add(name, "censored", censored);
  rows->add(name, "overhead_ms", rate.overhead_ms());
  rows->add(name, "build_cpu_ms",
            rate.shares.build_cpu_ns * 1e-6 / static_cast<double>(rate.counts.total()));
  rows->add(name, "build_share", rate.shares.build_ns / wall_ns);
  rows->add(name, "check_share", rate.shares.check_ns / wall_ns);
  rows->add(name, "time_share", rate.shares.time_ns / wall_ns);
  rows->add(name, "kernel_share", rate.shares.kernel_ns / wall_ns);
  rows->add(name, "idle_share", rate.shares.idle_ns / wall_ns);
  rows->add(name, "start_s", rate.start_s);
  rows->add(name, "best_us", near.best_ns * 1e-3);
  rows->add(name, "hand_us", near.hand_ns * 1e-3);
  rows->add(name, "explored", near.explored.total());
  rows->add(name, "explored_censored", near.explored.count(record::VerdictKind::Censored));
  rows->add(name, "explored_per_s",
            static_cast<double>(near.explored.total()) / near.explored.seconds);
}

void report_explored(const std::string& name, const Near& near) {
  std::string failures;
  for (int kind = 0; kind < record::kVerdictKinds; ++kind) {
    const auto verdict = static_cast<record::VerdictKind>(kind);
    if (!is_failure(verdict) || near.explored.count(verdict) == 0) continue;
    failures += fmt::format("  {} {}", near.explored.count(verdict), text_of(verdict));
  }
  fmt::print("{:<9}{:>7}{:>7}{:>9}{:>10.1f}{:>12.1f}{:>12.1f}{}\n", name, near.explored.total(),
             near.explored.count(record::VerdictKind::Timed),
             near.explored.count(record::VerdictKind::Censored),
             static_cast<double>(near.explored.total()) / near.explored.seconds,
             near.best_ns * 1e-3, near.hand_ns * 1e-3, failures);
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  const size_t wanted = flags.full ? 600 : 200;
  const std::vector<std::string> workloads = {"GMM2", "C2D2", "DEP0", "TBS0"};
  std::vector<Task> tasks;
  std::vector<Near> nears;
  fmt::print("explored: schedules near the one written by hand, and random ones\n");
  fmt::print("{:<9}{:>7}{:>7}{:>9}{:>10}{:>12}{:>12}  failures\n", "", "trials", "timed",
             "censored", "trials/s", "best us", "by hand us");
  std::fflush(stdout);
  for (const std::string& what : workloads) {
    tasks.push_back(task_of(what));
    nears.push_back(explore(what, tasks.back(), wanted));
    report_explored(what, nears.back());
    std::fflush(stdout);
  }

  std::vector<double> rates;
  double worst_overhead = 0;
  fmt::print("\nmeasured: those within {} x of the best, {} threads, empty store\n", kNear,
             bench_threads());
  fmt::print("{:<9}{:>7}{:>7}{:>9}{:>10}{:>10}{:>10}{:>8}{:>8}{:>8}{:>8}\n", "", "timed", "cens.",
             "failed", "timed/s", "overhead", "build CPU", "build", "check", "time", "idle");
  fmt::print("{:<9}{:>7}{:>7}{:>9}{:>10}{:>10}{:>10}{:>8}{:>8}{:>8}{:>8}\n", "", "", "", "", "",
             "ms/trial", "ms/trial", "%", "%", "%", "%");
  for (size_t k = 0; k < workloads.size(); ++k) {
    if (nears[k].traces.empty()) {
      fmt::print("{:<9} nothing was timed\n", workloads[k]);
      continue;
    }
    const Rate rate = measure_near(tasks[k], nears[k].traces);
    report(fmt::format("{}/{}t", workloads[k], bench_threads()), nears[k], rate, &rows);
    std::fflush(stdout);
    rates.push_back(rate.timed_per_s());
    worst_overhead = std::max(worst_overhead, rate.overhead_ms());
  }
  rows.add("measure", "trials_per_s", geometric_mean(rates));
  rows.add("measure", "overhead_ms", worst_overhead);
  fmt::print("\n");
  print_floor("checked and timed, geometric mean", geometric_mean(rates), kRateBar, "1/s");
  print_verdict("overhead of a trial, the worst of them", worst_overhead, kOverheadBarMs, "ms");
  return rates.size() == workloads.size() ? 0 : 1;
}

}  // namespace tilewright::bench
