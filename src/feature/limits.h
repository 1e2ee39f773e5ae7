// The likely limits of a program: its time relative to the time that arithmetic and each memory
// level would take alone, and shortcomings of its loops. Pure functions over estimates and measured
// ceilings; the results are sentences for display.
//
//   231 MFLOP in 1.01 ms, peak 240 GFLOP/s      -> 95 % of the FMA peak: compute
//   33 MB to and from memory in 2 ms, 20 GB/s   -> 83 % of the copy bandwidth: memory
#pragma once

#include <string>
#include <vector>

#include "feature/nest_facts.h"
#include "feature/traffic.h"

namespace tilewright::feature {

// The highest rates of the machine with the same number of threads; 0: unknown.
struct Ceilings {
  double gflops = 0;  // of multiply-adds in registers
  // Per level of Traffic: between it and the next level outwards.
  std::vector<double> gigabytes_per_s{};
};

// The share of one ceiling that a program reaches.
struct Share {
  std::string what;    // `FMA peak`, `memory`
  double reached = 0;  // GFLOP/s or GB/s
  double ceiling = 0;  // 0: unknown
  double share = 0;    // reached / ceiling, or 0
};

// The shares at a latency: arithmetic first (with the FLOP of the workload), then the memory levels
// from the registers outwards.
std::vector<Share> shares_of(const Traffic& traffic, const Ceilings& ceilings, double latency_ns);

// One to three sentences, the most likely limit first. Without a latency (0), only shortcomings of
// the loops. A ceiling that is exceeded by more than 10 % is not a limit; the last sentence says
// that its estimate does not hold. Lanes, accumulators and host threads are shortcomings of code
// for CPUs only.
std::vector<std::string> likely_limits(const Traffic& traffic, const NestFacts& facts,
                                       const Target& target, const std::vector<Share>& shares);

}  // namespace tilewright::feature
