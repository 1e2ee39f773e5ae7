#include "app/model_finals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/quantile.h"
#include "base/random_id.h"
#include "base/temporary_folder.h"
#include "codegen/version.h"
#include "deploy/export.h"
#include "measure/model_timing.h"

namespace tilewright::app {
namespace {

constexpr size_t kFinalists = 10;   // per kernel
constexpr size_t kChallengers = 3;  // libraries compared with the best at a time
// A schedule slower than the fastest by this factor is not a finalist.
constexpr double kFar = 1.25;
constexpr double kAhead = 0.99;                    // of the time of the best: less is noise
constexpr double kMinRuns = 10, kUsualRuns = 300;  // per library
constexpr double kMinSeconds = 0.2, kUsualSeconds = 1;
constexpr double kStart = 0.5;                   // seconds for a process, threads and pages
constexpr double kRoom = 1.3;                    // multiple of the expected time
constexpr int64_t kMaxBytes = int64_t{2} << 30;  // libraries at a time

using Picks = std::vector<size_t>;  // index of the finalist of each kernel

struct Timing {
  double run_ns = 0;                // low quantile of whole runs
  std::vector<double> kernel_ns{};  // all calls of a run
};

class Contest {
 public:
  // `options` and `stop` outlive it.
  Contest(const deploy::ModelPlan& plan, const Target& target, const ModelFinalsOptions& options,
          const StopToken& stop, std::vector<std::vector<deploy::Choice>> finalists,
          TemporaryFolder folder)
      : plan_(plan),
        target_(target),
        options_(options),
        stop_(stop),
        end_s_(seconds_now() + options.seconds),
        finalists_(std::move(finalists)),
        folder_(std::move(folder)) {
    for (std::vector<deploy::Choice>& of_kernel : finalists_) leave_out_slow(of_kernel);
    best_.assign(finalists_.size(), 0);
  }

  Status hold();
  const Picks& best() const { return best_; }
  const Timing& best_timing() const { return best_timing_; }
  const deploy::Choice& winner(size_t kernel) const { return finalists_[kernel][best_[kernel]]; }
  double gain() const { return gain_; }
  size_t libraries() const { return libraries_; }

 private:
  static void leave_out_slow(std::vector<deploy::Choice>& finalists) {
    // Times inside a model and times outside are not comparable.
    const auto is_alone = [](const deploy::Choice& one) {
      return one.record && one.record->protocol.cache != record::CachePolicy::InModel;
    };
    double min_ns = std::numeric_limits<double>::infinity();
    for (const deploy::Choice& one : finalists) {
      if (is_alone(one)) min_ns = std::min(min_ns, one.record->verdict.latency_ns);
    }
    const auto is_slow = [&](const deploy::Choice& one) {
      return is_alone(one) && one.record->verdict.latency_ns > kFar * min_ns;
    };
    const auto others = std::ranges::remove_if(finalists.begin() + 1, finalists.end(), is_slow);
    finalists.erase(others.begin(), others.end());
  }

  double left_s() const { return end_s_ - seconds_now(); }
  double turns_s() const {  // per library
    return std::max(std::clamp(kUsualRuns * run_s_, kMinSeconds, kUsualSeconds), kMinRuns * run_s_);
  }
  std::filesystem::path library(size_t k) const { return folder_ / fmt::format("finals{}.so", k); }
  Status build(const Picks& picks, size_t library);
  // For libraries 0 to count - 1.
  Result<std::vector<Timing>> time(size_t count);
  Timing timing_of(const measure::ModelTiming& timing) const;
  size_t challengers_that_fit() const;
  std::vector<Picks> next_challengers();
  Picks merged(const std::vector<Picks>& picks, const std::vector<Timing>& timings) const;
  Status adopt(const Picks& other);

  const deploy::ModelPlan& plan_;
  Target target_;
  const ModelFinalsOptions& options_;
  const StopToken& stop_;
  double end_s_;
  std::vector<std::vector<deploy::Choice>> finalists_;  // per kernel
  TemporaryFolder folder_;
  Picks best_;
  Timing best_timing_;
  size_t tried_ = 1;    // number of finalists of each kernel that were tried
  double build_s_ = 0;  // per library
  double run_s_ = 0;    // of a model
  int64_t bytes_ = 0;   // per library
  double gain_ = 1;     // of the best over the first
  size_t libraries_ = 0;
};

Status Contest::build(const Picks& picks, size_t library) {
  const double begin_s = seconds_now();
  std::vector<deploy::Choice> choices;
  choices.reserve(picks.size());
  for (size_t k = 0; k < picks.size(); ++k) choices.push_back(finalists_[k][picks[k]]);
  const deploy::Program program = TRY(deploy::compile_model(
      plan_, choices, target_,
      {.name = "finals", .stop = stop_, .back_ends = options_.tables.back_ends}));
  TRY(deploy::export_shared(program, this->library(library)));
  build_s_ = std::max(build_s_, seconds_now() - begin_s);
  bytes_ = program.constants.size();
  ++libraries_;
  return {};
}

Timing Contest::timing_of(const measure::ModelTiming& timing) const {
  Timing out{.run_ns = quantile_of(timing.runs_ns, measure::kModelLowQuantile), .kernel_ns = {}};
  for (const graph::Partition::Kernel& kernel : plan_.partition.kernels) {
    double ns = 0;
    for (const size_t group : kernel.groups) ns += timing.low_ns[group];
    out.kernel_ns.push_back(ns);
  }
  return out;
}

Result<std::vector<Timing>> Contest::time(size_t count) {
  std::vector<std::filesystem::path> libraries;
  libraries.reserve(count);
  for (size_t k = 0; k < count; ++k) libraries.push_back(library(k));
  const double seconds = static_cast<double>(count) * turns_s();
  const double limit_s = std::max(kRoom * kRoom * seconds, seconds + 10);
  auto timed = measure::time_libraries(libraries, {.workers = options_.workers,
                                                   .seconds = seconds,
                                                   .limit_s = std::min(limit_s, left_s()),
                                                   .stop = [this] { return stop_.requested(); }});
  if (!timed && left_s() <= 0) return fail(ErrorKind::Io, "there was no time left");
  std::vector<Timing> timings;
  for (const measure::ModelTiming& one : TRY(std::move(timed))) {
    if (one.low_ns.size() != plan_.partition.groups.size()) {
      return fail(ErrorKind::Io, "a library has other steps than the model");
    }
    timings.push_back(timing_of(one));
  }
  return timings;
}

// Includes the comparison with the best, which is already built.
size_t Contest::challengers_that_fit() const {
  const auto bytes = static_cast<double>(std::max<int64_t>(bytes_, 1));
  const double by_size = std::floor(static_cast<double>(kMaxBytes) / bytes) - 1;
  const double check_s = build_s_ + 2 * turns_s() + kStart;
  const double by_time =
      std::floor((left_s() / kRoom - check_s - turns_s() - kStart) / (build_s_ + turns_s()));
  const double fit = std::min({by_size, by_time, static_cast<double>(kChallengers)});
  return fit >= 1 ? static_cast<size_t>(fit) : 0;
}

// The next finalists of each kernel; a kernel without further ones keeps its best.
std::vector<Picks> Contest::next_challengers() {
  std::vector<Picks> challengers;
  const size_t max_challengers = challengers_that_fit();
  for (; challengers.size() < max_challengers; ++tried_) {
    Picks picks = best_;
    for (size_t k = 0; k < picks.size(); ++k) {
      if (tried_ < finalists_[k].size()) picks[k] = tried_;
    }
    if (picks == best_) break;
    challengers.push_back(std::move(picks));
  }
  return challengers;
}

// The first ones are the best; the others replace them only if clearly faster.
Picks Contest::merged(const std::vector<Picks>& picks, const std::vector<Timing>& timings) const {
  Picks merged = best_;
  for (size_t k = 0; k < merged.size(); ++k) {
    double min_ns = kAhead * timings[0].kernel_ns[k];
    for (size_t one = 1; one < picks.size(); ++one) {
      if (timings[one].kernel_ns[k] >= min_ns) continue;
      min_ns = timings[one].kernel_ns[k];
      merged[k] = picks[one][k];
    }
  }
  return merged;
}

// True if the combination is faster than the best, which is library 0.
Status Contest::adopt(const Picks& other) {
  TRY(build(other, 1));
  std::vector<Timing> timings = TRY(time(2));
  const bool faster = timings[1].run_ns < timings[0].run_ns;
  best_timing_ = std::move(timings[faster ? 1 : 0]);
  if (!faster) return {};
  gain_ *= timings[0].run_ns / best_timing_.run_ns;
  best_ = other;
  std::error_code error;
  std::filesystem::rename(library(1), library(0), error);
  if (error) return fail(ErrorKind::Io, error.message());
  return {};
}

Status Contest::hold() {
  for (size_t k = 0; k < finalists_.size(); ++k) {
    const auto calls = static_cast<double>(plan_.partition.kernels[k].groups.size());
    const auto& record = finalists_[k][0].record;
    run_s_ += record ? calls * record->verdict.latency_ns * 1e-9 : 0;
  }
  if (left_s() < turns_s() + kStart) return fail(ErrorKind::Io, "there was no time left");
  TRY(build(best_, 0));
  while (!stop_.requested()) {
    std::vector<Picks> picks = next_challengers();
    if (picks.empty() && !best_timing_.kernel_ns.empty()) return {};
    if (kRoom * (turns_s() + kStart) > left_s()) {
      return best_timing_.kernel_ns.empty() ? fail(ErrorKind::Io, "there was no time left")
                                            : Status{};
    }
    picks.insert(picks.begin(), best_);
    if (options_.on_libraries) options_.on_libraries(picks.size());
    for (size_t k = 1; k < picks.size(); ++k) TRY(build(picks[k], k));
    std::vector<Timing> timings = TRY(time(picks.size()));
    run_s_ = timings[0].run_ns * 1e-9;
    const Picks next = merged(picks, timings);
    best_timing_ = std::move(timings[0]);
    if (next != best_) TRY(adopt(next));
  }
  return {};
}

// Nothing was found since the last finals, or there are no records.
bool is_settled(const std::vector<std::vector<deploy::Choice>>& finalists) {
  return std::ranges::all_of(finalists, [](const std::vector<deploy::Choice>& of_kernel) {
    const auto& record = of_kernel.front().record;
    return !record || record->protocol.cache == record::CachePolicy::InModel;
  });
}

Status write_records(const deploy::ModelPlan& plan, const Target& target, record::Store& store,
                     const ModelFinalsOptions& options, const Contest& contest, int64_t begin_us) {
  const std::string_view back_end = codegen::recorded_name(target, options.tables.back_ends);
  const Machine machine = detect_machine();
  const record::Run run{.id = random_id(),
                        .start_us = begin_us,
                        .command = options.command,
                        .version = options.version};
  TRY(store.put_machine(machine));
  TRY(store.put_run(run));
  std::vector<record::Attempt> attempts;
  for (size_t k = 0; k < contest.best().size(); ++k) {
    const auto& winner = contest.winner(k).record;
    if (!winner) continue;
    const graph::Partition::Kernel& kernel = plan.partition.kernels[k];
    const Workload& workload = plan.partition.groups[kernel.groups.front()].workload;
    const double ns =
        contest.best_timing().kernel_ns[k] / static_cast<double>(kernel.groups.size());
    record::Attempt attempt;
    attempt.run = run.id;
    attempt.sequence = static_cast<int64_t>(k);
    attempt.task = Task{.workload = workload, .target = target}.key();
    attempt.program = winner->program;
    attempt.trace = winner->trace;
    attempt.machine = record::machine_id(machine);
    attempt.protocol = {.version = 1,
                        .cache = record::CachePolicy::InModel,
                        .interleaved = true,
                        .back_end = std::string(back_end)};
    attempt.code_generator = codegen::kCodeGeneratorVersion;
    attempt.start_us = begin_us;
    attempt.end_us = time_of_day_us();
    attempt.verdict = {
        .kind = record::VerdictKind::Timed, .latency_ns = ns, .samples_ns = {ns}, .text = {}};
    attempts.push_back(std::move(attempt));
  }
  return store.append(attempts);
}

}  // namespace

Result<ModelFinals> hold_model_finals(const deploy::ModelPlan& plan, const Target& target,
                                      record::Store& store, const ModelFinalsOptions& options,
                                      const StopToken& stop) {
  auto finalists = TRY(deploy::choose_finalists(
      plan, target, &store, kFinalists, codegen::recorded_name(target, options.tables.back_ends)));
  ModelFinals result;
  if (!options.again && is_settled(finalists)) return result;
  const auto back_end = codegen::back_end_for(target, options.tables.back_ends);
  const Status links =
      back_end ? deploy::check_linkable(**back_end) : Status(std::unexpected(back_end.error()));
  if (!links) {
    result.why_not = links.error().message;
    return result;
  }
  Result<TemporaryFolder> folder = make_scratch_folder("tilewright-finals-");
  if (!folder) {
    result.why_not = folder.error().message;
    return result;
  }
  const int64_t begin_us = time_of_day_us();
  Contest contest(plan, target, options, stop, std::move(finalists), *std::move(folder));
  if (const Status held = contest.hold(); !held) result.why_not = held.error().message;
  if (stop.requested() || contest.best_timing().kernel_ns.empty()) return result;
  result.cut_short = std::exchange(result.why_not, {});
  TRY(write_records(plan, target, store, options, contest, begin_us));
  result.held = true;
  result.after_ns = contest.best_timing().run_ns;
  result.before_ns = result.after_ns * contest.gain();
  result.kernels = contest.best().size();
  result.changed = static_cast<size_t>(
      std::ranges::count_if(contest.best(), [](size_t pick) { return pick != 0; }));
  result.libraries = contest.libraries();
  return result;
}

}  // namespace tilewright::app
