// measure_rates: the ceilings of this machine with a number of threads: the multiply-add peak, and
// the bandwidth of data in each cache and in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "feature/limits.h"
#include "feature/traffic.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::app {

// Data that is in a cache, or in memory.
struct LevelRate {
  std::string name;         // `L1`, `L2`, `L3`, `memory`
  int64_t holds_bytes = 0;  // of all threads together; memory: unlimited
  double read_gb_per_s = 0;
  double copy_gb_per_s = 0;  // a copied byte counts as two

  bool operator==(const LevelRate&) const = default;
};

struct MachineRates {
  double gflops = 0;              // of f32 multiply-adds in registers
  std::vector<LevelRate> levels;  // from the nearest outwards; the last is memory

  bool operator==(const MachineRates&) const = default;
};

// Takes about `seconds`. An error if the machine cannot provide the threads or the memory.
Result<MachineRates> measure_rates(const Target& target, const Machine& machine, double seconds,
                                   const StopToken& stop = {});

// Raises each rate to that of another measurement with the same threads.
void raise(MachineRates& rates, const MachineRates& other);

// The rates as ceilings of feature::memory_levels: the traffic between a level and the next one
// outwards is limited by the rate of data in the latter.
feature::Ceilings ceilings_of(const MachineRates& rates);

}  // namespace tilewright::app
