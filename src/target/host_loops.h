// Loops in the widest vectors of this machine, which saturate its multiply-add units and its
// memory. runtime/host/peak.h measures with them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilewright {

struct HostLoops {
  // Independent chains of float multiply-adds in registers, at least one iteration.
  void (*fma)(int64_t iterations) = nullptr;
  int64_t fma_flop = 0;               // per iteration
  std::string_view fma_instructions;  // their instruction set
  // Vector loads and ordinary (not streaming) vector stores; any alignment.
  void (*copy)(float* to, const float* from, int64_t count) = nullptr;
  float (*sum)(const float* from, int64_t count) = nullptr;
};

const HostLoops& host_loops();  // chosen once; safe from any thread

}  // namespace tilewright
