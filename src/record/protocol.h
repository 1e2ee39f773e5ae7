// Protocol: how a time was taken, and by which back end the code was made. Two times are comparable
// only if their protocols are equal, so it is part of the key of a verdict. The version covers the
// constants of the method (measure/timing); it is raised when they change measured times. A value.
//
//   v1;warm      v1;weights_cold      v1;warm;interleaved      v1;in_model;interleaved
//   v1;warm;back_end=c      not by the built-in back end of the target
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::record {

enum class CachePolicy : uint8_t {
  Warm,         // no eviction between calls
  Cold,         // all memory that the kernel touches is evicted before every sample
  WeightsCold,  // its constants are evicted, as in a model; activations are not
  InModel,      // not alone: between the other kernels of a model, in runs of the whole model
};
std::string_view text_of(CachePolicy policy);
Result<CachePolicy> parse_cache_policy(std::string_view text);
Result<CachePolicy> parse_own_cache_policy(std::string_view text);  // a policy for a kernel alone

struct Protocol {
  int version = 1;
  CachePolicy cache = CachePolicy::Warm;
  bool interleaved = false;  // finalists: interleaved with each other and the default schedule
  std::string back_end{};    // codegen::recorded_name; empty: the built-in one of the target

  bool operator==(const Protocol&) const = default;
};

std::string print_protocol(const Protocol& protocol);
Result<Protocol> parse_protocol(std::string_view text);

}  // namespace tilewright::record
