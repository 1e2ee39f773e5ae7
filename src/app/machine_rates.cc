#include "app/machine_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "runtime/host/peak.h"

namespace tilewright::app {
namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;  // copied to measure the memory bandwidth
constexpr double kBytesPerFlop = 2;  // assumed of the L1 cache: one f32 per multiply-add

// The levels that data may lie in, with their capacities.
std::vector<LevelRate> levels_of(const Target& target, const Machine& machine) {
  std::vector<LevelRate> levels;
  for (const feature::MemoryLevel& level : feature::memory_levels(target, machine)) {
    if (level.keeps_sums) continue;  // registers
    levels.push_back({.name = level.name, .holds_bytes = level.capacity * target.threads()});
  }
  levels.push_back({.name = "memory", .holds_bytes = std::numeric_limits<int64_t>::max()});
  return levels;
}

// The size of a source whose copy is in the same level: larger than the level before, and with the
// copy half as large as this one.
int64_t copied_bytes(const std::vector<LevelRate>& levels, size_t level) {
  const int64_t nearer = level > 0 ? levels[level - 1].holds_bytes : 0;
  const bool memory = level + 1 == levels.size();
  return memory ? std::clamp<int64_t>(2 * nearer, kMaxBytes / 8, kMaxBytes)
                : std::max(nearer, levels[level].holds_bytes / 4);
}

}  // namespace

Result<MachineRates> measure_rates(const Target& target, const Machine& machine, double seconds,
                                   const StopToken& stop) {
  MachineRates rates{.levels = levels_of(target, machine)};
  const int threads = target.threads();
  const double each = seconds / static_cast<double>(2 * rates.levels.size() + 1);
  try {
    rates.gflops = runtime::measure_fma_peak(threads, each, stop).gflops;
    for (size_t k = 0; k < rates.levels.size(); ++k) {
      const int64_t bytes = copied_bytes(rates.levels, k);
      LevelRate& level = rates.levels[k];
      level.copy_gb_per_s = runtime::measure_copy_bandwidth(threads, bytes, each, stop).best();
      const double read = runtime::measure_read_bandwidth(threads, 2 * bytes, each, stop);
      level.read_gb_per_s = std::max(read, level.copy_gb_per_s);
    }
  } catch (const std::runtime_error& error) {
    return fail(ErrorKind::Io, error.what());
  }
  return rates;
}

void raise(MachineRates& rates, const MachineRates& other) {
  const auto raise_one = [](double& rate, double to) { rate = std::max(rate, to); };
  raise_one(rates.gflops, other.gflops);
  for (size_t k = 0; k < rates.levels.size(); ++k) {
    raise_one(rates.levels[k].read_gb_per_s, other.levels[k].read_gb_per_s);
    raise_one(rates.levels[k].copy_gb_per_s, other.levels[k].copy_gb_per_s);
  }
}

feature::Ceilings ceilings_of(const MachineRates& rates) {
  feature::Ceilings ceilings{.gflops = rates.gflops};
  for (const LevelRate& level : rates.levels) {
    // Processors feed their FMA units from the L1 cache.
    const bool feeds = level.name == "L1";
    ceilings.gigabytes_per_s.push_back(feeds ? kBytesPerFlop * rates.gflops : level.copy_gb_per_s);
  }
  return ceilings;
}

}  // namespace tilewright::app
