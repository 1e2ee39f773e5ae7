// kernel_losses: the kernels of a compiled model by the time that they lose against their limits.
// Pure functions over the table of a library, the times of its steps and the rates of a machine.
// Durations in nanoseconds.
//
// The limit of a call is the largest of
//   FMA     its FLOP at the multiply-add peak
//   level   its bytes at the bandwidth of the smallest level that holds its operands; as many reads
//           as writes at the rate of copying, the rest at that of reading
//   level   its constants at the read bandwidth of the smallest level that holds all data of a run,
//           because the other kernels run between two uses of a constant
//
//   200 MFLOP at 100 GFLOP/s: 2 ms. 64 MB of weights, which only memory holds, at 20 GB/s: 3.2 ms.
//   The limit is memory, 3.2 ms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/machine_rates.h"
#include "base/result.h"
#include "runtime/abi/model_table.h"

namespace tilewright::app {

inline constexpr std::string_view kFmaLimit = "FMA";

struct KernelLimit {
  double ns = 0;     // of a call
  std::string what;  // `FMA`, or the name of a level
};

struct KernelLoss {
  size_t kernel = 0;    // its row in the table
  std::string title{};  // of its first step
  size_t calls = 0;     // in a run
  double ns = 0;        // of all calls
  KernelLimit limit;

  double call_ns() const { return calls > 0 ? ns / static_cast<double>(calls) : 0; }
  double limit_ns() const { return static_cast<double>(calls) * limit.ns; }
  double lost_ns() const { return ns > limit_ns() ? ns - limit_ns() : 0; }
  double of_limit() const { return ns > 0 ? limit_ns() / ns : 1; }
};

// An error for a library whose table lacks the facts of its kernels, because it is older. `what` is
// its name.
Status check_facts(const TilewrightModelApi& api, std::string_view what);

// The bytes between two uses of a constant: those that a run reads and writes.
double bytes_of_run(const TilewrightModelApi& api);

KernelLimit limit_of(const TilewrightTableFacts& facts, double bytes_of_run,
                     const MachineRates& rates);

// Kernels that a run calls, largest loss first. `steps_ns` has one time per step.
std::vector<KernelLoss> kernel_losses(const TilewrightModelApi& api,
                                      const std::vector<double>& steps_ns,
                                      const MachineRates& rates);

}  // namespace tilewright::app
