#include "measure/workbench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/quantile.h"
#include "base/rng.h"
#include "ir/element.h"
#include "measure/crash_handler.h"
#include "measure/sequential_test.h"
#include "measure/timing.h"
#include "oracle/special_values.h"
#include "runtime/host/loaders.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/timer.h"
#include "target/target.h"

namespace tilewright::measure {
namespace {

using record::Verdict;
using record::VerdictKind;
using runtime::now_ns;

// Higher priority than other processes, whose load would disturb the timing.
constexpr int kPriority = -10;
constexpr int kPoison = 0xFF;                             // NaN in every float type
constexpr int kFarRuns = 2, kSureRuns = 3, kMaxRuns = 5;  // runs before a kernel is censored
constexpr double kFar = 4;
// Added to the limit of a first run, whose caches are cold: the bytes that it touches, at a low
// bandwidth, and a duration that is longer than a process usually loses its CPU.
constexpr double kColdBytesPerNs = 1;
constexpr double kColdNs = 20e6;
// A process that exceeds its CPU quota pauses for up to a period of it, 100 ms by default. A limit
// below that does not tell a slow kernel from a pause, which a guest or a container may not see.
constexpr double kPauseNs = 100e6;

double since(int64_t begin) { return static_cast<double>(now_ns() - begin); }

Verdict failure(VerdictKind kind, std::string text) {
  return {.kind = kind, .latency_ns = 0, .samples_ns = {}, .text = std::move(text)};
}

Verdict timed(double latency_ns, std::vector<double> samples) {
  return {.kind = VerdictKind::Timed,
          .latency_ns = latency_ns,
          .samples_ns = std::move(samples),
          .text = {}};
}

Verdict censored(double bound_ns, std::string text) {
  return {.kind = VerdictKind::Censored,
          .latency_ns = bound_ns,
          .samples_ns = {},
          .text = std::move(text)};
}

std::string text_of_status(int32_t status) {
  return fmt::format(
      "the kernel returned status {}{}", status,
      status == TILEWRIGHT_STATUS_PARALLEL_FAILED ? ": a parallel loop could not be run" : "");
}

}  // namespace

struct Workbench::Impl {
  // A mounted kernel and its state so far.
  struct Call {
    std::unique_ptr<MountedKernel> kernel;  // at a stable address: its clock refers to it
    std::optional<KernelClock> clock;
    RunOutcome outcome;
    double first_ns = 0;             // its first run
    std::vector<double> samples_ns;  // comparison: all undisturbed samples

    bool failed() const { return record::is_failure(outcome.verdict.kind); }
    bool is_timed() const { return outcome.verdict.kind == VerdictKind::Timed; }
  };

  Impl(Task the_task, const oracle::Tolerance& allowed, StatusBlock& block)
      : task(std::move(the_task)),
        tolerance(allowed),
        status(block),
        specials(oracle::special_values(task.workload)) {}

  bool is_output(size_t k) const { return task.workload.operands[k].role == Role::Output; }

  // Loads and packs. The outcome describes a failure.
  Call mount(const BuiltKernel& kernel, PackedBuffers& packed) {
    Call trial;
    set_phase(status, "load");
    Result<MountedKernel> mounted = MountedKernel::mount(task, kernel, memory, packed, loaders);
    if (!mounted) {
      const bool build = mounted.error().kind != ErrorKind::Io;
      trial.outcome.verdict = failure(build ? VerdictKind::Build : VerdictKind::Crash,
                                      std::move(mounted.error().message));
      return trial;
    }
    trial.kernel = std::make_unique<MountedKernel>(std::move(*mounted));
    trial.outcome.verdict = timed(0, {});
    return trial;
  }

  // Prepares the memory that it may write, calls it once and checks the guard zones. If the call
  // takes far longer than `censor_ns` (0: any time), it is stopped and the kernel is censored. A
  // stopped call that may have been disturbed is repeated once.
  void run_first(Call& trial, double timeout_ns, double censor_ns = 0) {
    const double cold_ns = cold_caches_ns(*trial.kernel);
    const double cancel_ns = censor_ns > 0 ? censor_ns + cold_ns : 0;
    trial.clock.emplace(*trial.kernel, task.target.threads(), timeout_ns);
    disturbance.begin_trial();
    disturbance.begin_sample();
    call_first(trial, cancel_ns);
    const bool doubtful = cancel_ns < kPauseNs || disturbance.disturbed() || disturbance.stolen();
    if (!trial.failed() && trial.clock->stopped() && doubtful) call_first(trial, cancel_ns);
    if (trial.failed() || !trial.clock->stopped()) return;
    const double bound_ns =
        std::max(trial.first_ns - cold_ns, censor_ns);  // the timer began earlier
    trial.outcome.verdict = censored(bound_ns, "stopped in its first call");
  }

  void call_first(Call& trial, double cancel_ns) {
    poison();
    set_phase(status, "run");
    trial.first_ns = trial.clock->run_cancellable(cancel_ns);
    trial.outcome.verdict.latency_ns = trial.first_ns;
    find_fault(trial);
  }

  // The time by which cold caches may slow down a call, at most.
  static double cold_caches_ns(const MountedKernel& kernel) {
    double bytes = 0;
    for (const std::span<const std::byte> memory : kernel.touched()) {
      bytes += static_cast<double>(memory.size());
    }
    return bytes / kColdBytesPerNs + kColdNs;
  }

  void poison() {
    for (size_t k = 0; k < memory.operands.size(); ++k) {
      if (!is_output(k)) continue;
      const Status sized = memory.operands[k].resize(memory.operands[k].size());
      CHECK(sized.has_value(), "{}", sized.error().message);
      std::memset(memory.operands[k].data(), kPoison, memory.operands[k].size());
    }
    const Status sized = memory.workspace.resize(memory.workspace.size());
    CHECK(sized.has_value(), "{}", sized.error().message);
    std::memset(memory.workspace.data(), kPoison, memory.workspace.size());
  }

  // Fails on a nonzero status, unless it was stopped, or a damaged guard zone.
  void find_fault(Call& trial) {
    Verdict& verdict = trial.outcome.verdict;
    if (trial.clock->status() != 0 && !trial.clock->stopped()) {
      verdict = failure(VerdictKind::Crash, text_of_status(trial.clock->status()));
    } else if (std::string damage = trial.kernel->damage(); !damage.empty()) {
      verdict = failure(VerdictKind::Crash, std::move(damage));
    } else if (std::string between = memory.damage_between(task.workload, std::byte{kPoison});
               !between.empty()) {
      verdict = failure(VerdictKind::Crash, std::move(between));
    }
  }

  void compare_outputs(Call& trial, std::string_view when = {}) {
    compare_with(given, tolerance, trial, when);
  }

  void compare_with(std::span<const std::span<std::byte>> expected,
                    const oracle::Tolerance& allowed, Call& trial, std::string_view when) {
    set_phase(status, "compare");
    for (size_t k = 0; k < memory.operands.size() && !trial.failed(); ++k) {
      if (!is_output(k)) continue;
      std::string wrong = oracle::find_difference(task.workload, k, allowed, expected[k],
                                                  memory.row_major(task.workload, k, scratch));
      if (wrong.empty()) continue;
      trial.outcome.verdict = failure(VerdictKind::WrongResult, fmt::format("{}{}", when, wrong));
    }
  }

  // One run with special values in the inputs, which are then as before.
  void run_special(Call& trial) {
    put_specials(true);
    poison();
    set_phase(status, "run with special values");
    trial.clock->run();
    put_specials(false);
    find_fault(trial);
  }

  void check_special(Call& trial) {
    if (trial.failed() || specials.empty()) return;
    run_special(trial);
    compare_with(special, oracle::special_tolerance(task.workload, tolerance), trial,
                 "with NaN, infinities and denormals in the inputs: ");
  }

  void put_specials(bool in) {
    for (size_t at = 0; at < specials.size();) {
      const size_t k = specials[at].operand;
      const te::Tensor& tensor = task.workload.dag->tensor(task.workload.operands[k].tensor);
      memory.operands[k].set_read_only(false);
      for (; at < specials.size() && specials[at].operand == k; ++at) {
        const int64_t offset = specials[at].offset;
        const double usual = ir::read_element(given[k].data(), tensor.element, offset);
        ir::write_element(memory.operands[k].data(), tensor.element, offset,
                          in ? specials[at].value : usual);
      }
      memory.operands[k].set_read_only(true);
    }
  }

  void keep_outputs(std::span<const std::span<std::byte>> to) {
    for (size_t k = 0; k < memory.operands.size(); ++k) {
      if (!is_output(k)) continue;
      const std::span<const std::byte> made = memory.row_major(task.workload, k, scratch);
      std::memcpy(to[k].data(), made.data(), made.size());
    }
  }

  // Mounts, runs once and compares, unless the run was stopped.
  Call checked(const BuiltKernel& kernel, double timeout_ns, PackedBuffers& packed,
               double censor_ns = 0) {
    const int64_t begin = now_ns();
    Call trial = mount(kernel, packed);
    if (!trial.failed()) run_first(trial, timeout_ns, censor_ns);
    if (trial.is_timed()) compare_outputs(trial);
    trial.outcome.conditions.check_ns = since(begin);
    if (trial.clock) trial.outcome.kernel_ns = trial.clock->total_ns();
    return trial;
  }

  // True if correct but slower than `censor_ns`, and not by accident: in each of several runs. For
  // a short kernel, a run is as many calls as a sample has.
  bool is_censored(Call& trial, double censor_ns) {
    double fastest = trial.first_ns;
    bool disturbed = true;  // the first run has cold caches
    for (int runs = 1; censor_ns > 0 && fastest > censor_ns; ++runs) {
      const bool far = runs >= kFarRuns && fastest > kFar * censor_ns;
      const bool sure = runs >= kSureRuns && !disturbed;
      if (far || sure || runs >= kMaxRuns) {
        trial.outcome.verdict = censored(fastest, {});
        return true;
      }
      const int64_t calls = calls_per_sample(record::CachePolicy::Warm, fastest, kSampleNs);
      disturbance.begin_sample();
      fastest = std::min(fastest, trial.clock->run(calls) / static_cast<double>(calls));
      disturbed = disturbance.disturbed();
    }
    return false;
  }

  void time(Call& trial, const RunRequest& request) {
    TimingResult result = time_kernel(*trial.clock, disturbance, request.protocol.cache,
                                      request.incumbent_ns, trial.first_ns);
    trial.outcome.verdict = timed(result.latency_ns, std::move(result.samples_ns));
    trial.outcome.conditions.disturbed = result.disturbed;
    trial.outcome.conditions.clock = result.clock;
    find_fault(trial);
    compare_outputs(trial, "after further runs: ");
    const bool is_best =
        request.incumbent_ns == 0 || trial.outcome.verdict.latency_ns < request.incumbent_ns;
    if (is_best) check_special(trial);
  }

  void take_turn(Call& trial, const CompareRequest& request) {
    const Turn turn = time_turn(*trial.clock, disturbance, request.protocol.cache, trial.first_ns,
                                request.round_ns);
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(trial.samples_ns, turn.samples_ns);
    append(trial.outcome.verdict.samples_ns, turn.kept_ns);
    trial.outcome.conditions.disturbed += turn.disturbed;
    trial.outcome.conditions.time_ns += turn.elapsed_ns;
    find_fault(trial);
    if (trial.failed()) poison();  // restores the patterns for the others
  }

  // Final checks after all turns: still correct, and its latency.
  void conclude(Call& trial) {
    poison();
    trial.clock->run();
    find_fault(trial);
    compare_outputs(trial, "after further runs: ");
    check_special(trial);
    trial.outcome.kernel_ns = trial.clock->total_ns();
    if (trial.failed()) return;
    std::ranges::sort(trial.samples_ns);
    trial.outcome.verdict.latency_ns = quantile_of(trial.samples_ns, kLowQuantile);
  }

  Task task;
  oracle::Tolerance tolerance;
  StatusBlock& status;
  std::span<const runtime::Loader> loaders;
  std::vector<oracle::SpecialValue> specials;
  std::vector<std::span<std::byte>> given;    // inputs and expected outputs, shared
  std::vector<std::span<std::byte>> special;  // expected outputs with special values, shared
  BenchMemory memory;
  std::vector<std::byte> scratch;  // contiguous elements of a part
  PackedBuffers packed;            // reused from candidate to candidate
  Disturbance disturbance;
};

Workbench::Workbench(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workbench::Workbench(Workbench&&) noexcept = default;
Workbench& Workbench::operator=(Workbench&&) noexcept = default;
Workbench::~Workbench() = default;

Result<Workbench> Workbench::make(const Task& task, const SharedOperands& operands,
                                  const oracle::Tolerance& tolerance, StatusBlock& status,
                                  std::span<const runtime::Loader> loaders) {
  TRY(runtime::check_loadable(task.target, loaders));
  install_crash_handler(status);
  setpriority(PRIO_PROCESS, 0, kPriority);  // best effort; the threads of the pool inherit it
  runtime::ThreadPool::process().pin_caller();
  BenchMemory memory = TRY(BenchMemory::make(task.workload, operands));
  auto impl = std::make_unique<Impl>(task, tolerance, status);
  impl->loaders = loaders;
  impl->memory = std::move(memory);
  const size_t count = task.workload.operands.size();
  impl->tolerance.absolute.resize(count);
  impl->tolerance.relative.resize(count);
  impl->given.assign(operands.sections().begin(), operands.sections().end());
  impl->special.assign(operands.special_outputs().begin(), operands.special_outputs().end());
  return Workbench(std::move(impl));
}

RunOutcome Workbench::make_reference(const BuiltKernel& kernel, double timeout_ns,
                                     SharedOperands& operands) {
  const int64_t begin = now_ns();
  Impl::Call trial = impl_->mount(kernel, impl_->packed);
  if (!trial.failed()) impl_->run_first(trial, timeout_ns);
  if (!trial.failed()) {
    operands.set_writable(true);
    impl_->keep_outputs(operands.sections());
    if (!impl_->specials.empty()) {
      impl_->run_special(trial);
      impl_->keep_outputs(operands.special_outputs());
    }
    operands.set_writable(operands.fd() >= 0);
  }
  trial.outcome.conditions.check_ns = since(begin);
  trial.outcome.conditions.time_ns = trial.first_ns;
  trial.outcome.kernel_ns = trial.first_ns;
  return std::move(trial.outcome);
}

RunOutcome Workbench::check(const BuiltKernel& kernel, double timeout_ns) {
  Impl::Call trial = impl_->checked(kernel, timeout_ns, impl_->packed);
  impl_->check_special(trial);
  trial.outcome.conditions.time_ns = trial.first_ns;
  return std::move(trial.outcome);
}

RunOutcome Workbench::measure(const BuiltKernel& kernel, const RunRequest& request) {
  Impl::Call trial = impl_->checked(kernel, request.timeout_ns, impl_->packed, request.censor_ns);
  if (!trial.is_timed()) return std::move(trial.outcome);
  const int64_t begin = now_ns();
  set_phase(impl_->status, "time");
  if (!impl_->is_censored(trial, request.censor_ns)) impl_->time(trial, request);
  trial.outcome.conditions.time_ns = since(begin);
  trial.outcome.kernel_ns = trial.clock->total_ns();
  return std::move(trial.outcome);
}

std::vector<RunOutcome> Workbench::compare(std::span<const BuiltKernel> kernels,
                                           const CompareRequest& request) {
  std::vector<PackedBuffers> packed(kernels.size());  // one set per kernel, all at once
  std::vector<Impl::Call> trials;
  trials.reserve(kernels.size());
  size_t workspace = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    impl_->status.kernel = static_cast<int32_t>(k);
    trials.push_back(impl_->checked(kernels[k], request.timeout_ns, packed[k]));
    if (trials.back().kernel) {
      workspace = std::max(workspace, trials.back().kernel->workspace_bytes());
    }
  }
  const Status sized = impl_->memory.workspace.resize(workspace);
  CHECK(sized.has_value(), "{}", sized.error().message);  // it had this size before
  set_phase(impl_->status, "time");
  std::vector<size_t> order;
  for (size_t k = 0; k < trials.size(); ++k) {
    if (!trials[k].failed()) order.push_back(k);
  }
  Rng rng(1);
  for (int round = 0; round < request.rounds; ++round) {
    const double clock = impl_->disturbance.clock();
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
    for (const size_t k : order) {
      if (trials[k].failed()) continue;
      impl_->status.kernel = static_cast<int32_t>(k);
      trials[k].outcome.conditions.clock = std::max(trials[k].outcome.conditions.clock, clock);
      impl_->take_turn(trials[k], request);
    }
  }
  std::vector<RunOutcome> outcomes;
  for (size_t k = 0; k < trials.size(); ++k) {
    impl_->status.kernel = static_cast<int32_t>(k);
    if (!trials[k].failed()) impl_->conclude(trials[k]);
    outcomes.push_back(std::move(trials[k].outcome));
  }
  return outcomes;
}

}  // namespace tilewright::measure
