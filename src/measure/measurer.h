// Measurer: candidates in, verdicts out. Two pools of worker processes stand between a candidate
// and this process: build workers, in which LLVM lives, and a run worker, which has no compiler.
// Whatever a candidate does (loops, exhausts memory, crashes, writes out of bounds) costs one
// trial: the worker is started anew and the verdict says what happened.
//
//   build workers, one per CPU    trace -> BuiltKernel      limits: CPU time, memory
//   run worker                  load, check, time         limits: time of a call, memory
//
// Building overlaps measuring only on cpus that the kernel does not use: with as many threads as
// cpus the two take turns, so that a kernel is timed with the machine to itself.
//
// One thread; not to be shared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/proposal.h"
#include "record/attempt.h"
#include "runtime/host/loader.h"
#include "runtime/host/loaders.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::measure {

struct MeasureOptions {
  std::filesystem::path workers;  // the folder of tilewright-build-worker and tilewright-run-worker
  record::Protocol protocol{};
  int builders = 0;                             // 0: one for each cpu
  double build_timeout_s = 10;                  // CPU time of one build
  int64_t build_memory = int64_t{3} << 30;      // bytes of address space
  int64_t run_memory = 0;                       // bytes besides the operands; 0: 1 GiB
  double timeout_multiple = 10;                 // of the incumbent: one call may take so long
  double timeout_floor_ms = 200;                // but always this long
  double censor_multiple = 5;                   // of the incumbent: right but slower is censored
  int recycle_after = 1000;                     // jobs of a worker
  int64_t recycle_growth = int64_t{512} << 20;  // bytes of resident memory since its first job
  uint64_t seed = 1;                            // of the inputs
  std::function<bool()> stop = {};              // asked between trials: true ends measuring early
  // What the run worker loads kernels by.
  std::span<const runtime::Loader> loaders = runtime::all_loaders();
};

// What became of one candidate.
struct Measurement {
  size_t candidate = 0;  // of the span given to measure
  Hash128 program;       // zero when illegal
  record::Verdict verdict;
  record::Conditions conditions;
  double kernel_ns = 0;
  int64_t start_us = 0, end_us = 0;  // time of day
};

// Where the time went, since start; wall time but for build_cpu_ns.
struct Shares {
  int64_t trials = 0, timed = 0, censored = 0;
  double wall_ns = 0;
  double build_cpu_ns = 0;  // of all builders
  double build_ns = 0;      // only builders at work
  double check_ns = 0;
  double time_ns = 0;
  double kernel_ns = 0;
  double idle_ns = 0;  // nobody at work
  int64_t builders_started = 0, runners_started = 0;
};

class Measurer {
 public:
  // Starts the workers, draws the inputs and makes the reference (default schedule, judged).
  // An error says why the workload cannot be measured here.
  static Result<Measurer> start(const Task& task, const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  const Task& task() const;
  double default_ns() const;  // one run of the default schedule, as a first incumbent
  const schedule::Trace& default_trace() const;
  double incumbent_ns() const;
  void set_incumbent(double latency_ns);  // from a store; a slower one than known is ignored

  // Each candidate gets one verdict, in any order; `report` is called with groups of them as they
  // become known. An error only when workers cannot be started at all, or from `report`.
  using Report = std::function<Status(std::span<const Measurement>)>;
  // Asked before a candidate is built and again before it is run: one that is no longer wanted has
  // no verdict here.
  using Wanted = std::function<Result<bool>(size_t candidate)>;
  Status measure(std::span<const Proposal> candidates, const Report& report,
                 const Wanted& wanted = {});
  Status measure(std::span<const schedule::Trace> candidates, const Report& report);

  // The finalists in turns, `rounds` of `round_ms` each. In the order given.
  Result<std::vector<Measurement>> compare(std::span<const Proposal> finalists, int rounds,
                                           double round_ms);
  Result<std::vector<Measurement>> compare(std::span<const schedule::Trace> finalists, int rounds,
                                           double round_ms);

  // Of traces of unknown origin.
  std::vector<Proposal> proposals_of(std::span<const schedule::Trace> traces) const;

  Shares shares() const;
  std::vector<int> worker_pids() const;  // builders, then the runner; for tests

 private:
  struct Impl;
  explicit Measurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
