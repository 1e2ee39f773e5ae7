// What is likely to limit a program: its time against the times that arithmetic and each level of
// memory would take alone, and what its loops lack. Pure functions over estimates and measured
// ceilings; sentences for people.
//
//   231 MFLOP in 1.01 ms, peak 240 GFLOP/s      -> 95 % of the FMA peak: compute
//   33 MB to and from memory in 2 ms, 20 GB/s   -> 83 % of what copying reaches: memory
#pragma once

#include <string>
#include <vector>

#include "feature/nest_facts.h"
#include "feature/traffic.h"

namespace tilewright::feature {

// What the machine can do at most with as many threads; 0: not known.
struct Ceilings {
  double gflops = 0;                      // multiply-adds in registers
  std::vector<double> gigabytes_per_s{};  // by level of Traffic: between it and the one beyond
};

// One share of a ceiling.
struct Share {
  std::string what;    // `FMA peak`, `memory`
  double reached = 0;  // GFLOP/s or GB/s
  double ceiling = 0;  // 0: not known
  double share = 0;    // reached / ceiling, or 0
};

// The shares at a latency: arithmetic first (with the FLOP that the workload asks for), then the
// levels from the registers on.
std::vector<Share> shares_of(const Traffic& traffic, const Ceilings& ceilings, double latency_ns);

// One to three sentences, the most likely reason first. Without a latency (0) only what the loops
// lack. A ceiling that is passed by more than a tenth is no reason: the last sentence says that its
// estimate does not hold.
std::vector<std::string> likely_limits(const Traffic& traffic, const NestFacts& facts,
                                       const Target& target, const std::vector<Share>& shares);

}  // namespace tilewright::feature
