// Workbench: holds the operands of one workload in this process, and runs, checks and times kernels
// on them. It is the part of a run worker that is independent of processes. A crash of a kernel
// ends the process, after the handler (measure/crash_handler) has described it.
//
// Memory is allocated as for a deployed kernel: anonymous, aligned to 64 bytes, with huge pages
// from 2 MiB on. Inputs and constants are read-only once written. Each buffer has guard zones with
// a known pattern on both sides, followed by inaccessible pages. Before a check, outputs and
// workspace are filled with 0xFF (NaN), so that missing writes are detected.
//
// A kernel that is faster than the incumbent is also run once with special values in its inputs
// (oracle/special_values.h), and so are those of `check` and `compare`.
//
// Not thread-safe. Durations in nanoseconds.
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
  double incumbent_ns = 0;  // for the sequential test; 0: none
  double timeout_ns = 0;    // per call; the timer of the process ends it after this time
  // A kernel slower than this is censored; 0: never. If its first call takes far longer, the call
  // is stopped, repeated once if it may have been disturbed, and its result is not compared.
  double censor_ns = 0;
};

struct RunOutcome {
  record::Verdict verdict;        // timed, censored, crash (a guard zone), wrong_result or device
  record::Conditions conditions;  // all except build_ns and load
  double kernel_ns = 0;           // wall time inside the kernel, including the check
};

struct CompareRequest {
  record::Protocol protocol;  // interleaved
  double timeout_ns = 0;
  int rounds = 5;
  double round_ns = 0;  // per kernel and round; at least one sample
};

class Workbench {
 public:
  // `status` and the memory of `operands` outlive the workbench: phases are written to the first,
  // expected outputs read from the second. Installs the crash handler, pins the calling thread and
  // requests a higher priority. An error if this machine cannot run the target, or if there is no
  // memory.
  static Result<Workbench> make(const Task& task, const SharedOperands& operands,
                                const oracle::Tolerance& tolerance, StatusBlock& status,
                                std::span<const runtime::Loader> loaders = runtime::all_loaders());
  Workbench(Workbench&&) noexcept;
  Workbench& operator=(Workbench&&) noexcept;
  ~Workbench();

  // Two runs without a comparison, with the inputs and with special values in them; their outputs
  // become the expected outputs in `operands`.
  RunOutcome make_reference(const BuiltKernel& kernel, double timeout_ns, SharedOperands& operands);
  // The same two runs with a comparison, without timing: conditions.time_ns is the time of the
  // first.
  RunOutcome check(const BuiltKernel& kernel, double timeout_ns);
  RunOutcome measure(const BuiltKernel& kernel, const RunRequest& request);
  // Checks all kernels, then times them interleaved. One outcome per kernel.
  std::vector<RunOutcome> compare(std::span<const BuiltKernel> kernels,
                                  const CompareRequest& request);

 private:
  struct Impl;
  explicit Workbench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
