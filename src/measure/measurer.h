// Measurer: turns candidates into verdicts. Two kinds of worker process isolate this process from
// the candidates: build workers, which contain LLVM, and a run worker, which has no compiler.
// A candidate that loops, exhausts memory, crashes or writes out of bounds costs one trial: the
// worker is replaced, and the verdict says what happened.
//
//   build workers, one per CPU    trace -> BuiltKernel      limits: CPU time, memory
//   run worker                  load, check, time         limits: time of a call, memory
//
// Building overlaps with measuring only on cores that the kernel does not use. If a kernel uses all
// cores, the two alternate, so that nothing else runs while it is timed.
//
// Not thread-safe.
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
  std::filesystem::path workers;  // folder of tilewright-build-worker and tilewright-run-worker
  record::Protocol protocol{};
  int builders = 0;                         // 0: one per CPU
  double build_timeout_s = 10;              // CPU time per build
  int64_t build_memory = int64_t{3} << 30;  // bytes of address space
  int64_t run_memory = 0;                   // bytes in addition to the operands; 0: 1 GiB
  double timeout_multiple = 10;             // time limit of a call, as a multiple of the incumbent
  double timeout_floor_ms = 200;            // lower bound of that limit
  // A candidate slower than this multiple of the incumbent is censored, inside its first call if
  // that takes far longer.
  double censor_multiple = 5;
  int recycle_after = 1000;  // jobs after which a worker is replaced
  // Growth of resident memory after which a worker is replaced.
  int64_t recycle_growth = int64_t{512} << 20;
  uint64_t seed = 1;  // seed of the inputs
  // Polled between trials: true ends measuring early. tune::Tuning also polls it on the thread that
  // prepares the next round: there it must be thread-safe.
  std::function<bool()> stop = {};
  // Loaders of the run worker.
  std::span<const runtime::Loader> loaders = runtime::all_loaders();
};

// The result for one candidate.
struct Measurement {
  size_t candidate = 0;  // index in the span passed to measure
  Hash128 program;       // zero if illegal
  record::Verdict verdict;
  record::Conditions conditions;
  double kernel_ns = 0;
  int64_t start_us = 0, end_us = 0;  // wall-clock time
};

// Time by activity since the start; wall time, except build_cpu_ns.
struct Shares {
  int64_t trials = 0, timed = 0, censored = 0;
  double wall_ns = 0;
  double build_cpu_ns = 0;  // of all builders
  double build_ns = 0;      // only builders were active
  double check_ns = 0;
  double time_ns = 0;
  double kernel_ns = 0;
  double idle_ns = 0;  // no worker was active
  int64_t builders_started = 0, runners_started = 0;
};

class Measurer {
 public:
  // Starts the workers, draws the inputs, and computes and validates the reference (default
  // schedule). An error says why the workload cannot be measured on this machine.
  static Result<Measurer> start(const Task& task, const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  const Task& task() const;
  double default_ns() const;  // one run of the default schedule, the first incumbent
  const schedule::Trace& default_trace() const;
  double incumbent_ns() const;
  // From a store; ignored if it is slower than the current one.
  void set_incumbent(double latency_ns);

  // Reports one verdict per candidate, in any order, in groups. An error only if workers cannot be
  // started at all, or if `report` returns one.
  using Report = std::function<Status(std::span<const Measurement>)>;
  // Called before a candidate is built and again before it is run. False: the candidate gets no
  // verdict here.
  using Wanted = std::function<Result<bool>(size_t candidate)>;
  Status measure(std::span<const Proposal> candidates, const Report& report,
                 const Wanted& wanted = {});
  Status measure(std::span<const schedule::Trace> candidates, const Report& report);

  // Times the finalists interleaved, in `rounds` of `round_ms` each. Results are in the given
  // order.
  Result<std::vector<Measurement>> compare(std::span<const Proposal> finalists, int rounds,
                                           double round_ms);
  Result<std::vector<Measurement>> compare(std::span<const schedule::Trace> finalists, int rounds,
                                           double round_ms);

  // Proposals for traces of unknown origin.
  std::vector<Proposal> proposals_of(std::span<const schedule::Trace> traces) const;

  Shares shares() const;
  std::vector<int> worker_pids() const;  // builders, then the runner; for tests

 private:
  struct Impl;
  explicit Measurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
