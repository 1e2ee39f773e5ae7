// Workbench: the operands of one workload in the memory of this process, and what is done with a
// kernel there: run, check, time. The part of a run worker that knows nothing of processes; a
// kernel that crashes takes the process with it, after the handler (measure/crash_handler) has
// noted what happened.
//
// Memory is as a deployed kernel would find it: anonymous, aligned to 64, huge pages from 2 MiB on.
// Inputs and constants are read-only once written. Around each buffer lies a guard zone of a known
// pattern, and beyond it a page that cannot be touched. Before a check, outputs and workspace are
// filled with NaN-like bytes, so that what was not written is noticed.
//
// Not to be shared between threads. Durations in nanoseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/built_kernel.h"
#include "measure/shared_operands.h"
#include "measure/status_block.h"
#include "oracle/difference.h"
#include "record/attempt.h"
#include "runtime/host/loaders.h"
#include "task/workload.h"

namespace tilewright::measure {

struct RunRequest {
  record::Protocol protocol;
  double incumbent_ns = 0;  // the best latency known, for the sequential test; 0: none
  double timeout_ns = 0;    // of one call: the process's own timer ends it beyond
  double censor_ns = 0;     // right but slower than this: censored; 0: never
};

struct RunOutcome {
  record::Verdict verdict;        // timed, censored, crash (a guard zone), wrong_result, device
  record::Conditions conditions;  // all but build_ns and load
  double kernel_ns = 0;           // wall time inside of the kernel's own runs, check included
};

struct CompareRequest {
  record::Protocol protocol;  // interleaved
  double timeout_ns = 0;
  int rounds = 5;
  double round_ns = 0;  // of each kernel in each round; at least one sample
};

class Workbench {
 public:
  // `status` and the memory of `operands` outlive the workbench; phases are noted in the one,
  // expected outputs are read in the other. Installs the crash handler, pins the calling thread and
  // asks for priority. An error when the target cannot run here or there is no memory.
  static Result<Workbench> make(const Task& task, const SharedOperands& operands,
                                const oracle::Tolerance& tolerance, StatusBlock& status,
                                std::span<const runtime::Loader> loaders = runtime::all_loaders());
  Workbench(Workbench&&) noexcept;
  Workbench& operator=(Workbench&&) noexcept;
  ~Workbench();

  // One run without a comparison; its outputs become the expected ones in `operands`.
  RunOutcome make_reference(const BuiltKernel& kernel, double timeout_ns, SharedOperands& operands);
  // One run and its comparison, no timing: conditions.time_ns is that run's.
  RunOutcome check(const BuiltKernel& kernel, double timeout_ns);
  RunOutcome measure(const BuiltKernel& kernel, const RunRequest& request);
  // All of them checked, then timed in turns. One outcome a kernel.
  std::vector<RunOutcome> compare(std::span<const BuiltKernel> kernels,
                                  const CompareRequest& request);

 private:
  struct Impl;
  explicit Workbench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
