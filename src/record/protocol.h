// Protocol: how a time was taken. Two times are comparable when their protocols are equal, so it is
// part of what a verdict is looked up by. The version stands for the constants of the method
// (measure/timing): it is raised by hand when they change what is measured. A value.
//
//   v1;warm      v1;weights_cold      v1;warm;interleaved      v1;in_model;interleaved
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::record {

enum class CachePolicy : uint8_t {
  Warm,         // calls follow each other
  Cold,         // all that the kernel touches is evicted before every sample
  WeightsCold,  // its constants are, as in a model; activations stay where they are
  InModel,      // not by itself at all: between the other kernels of a model, in whole runs of it
};
std::string_view text_of(CachePolicy policy);
Result<CachePolicy> parse_cache_policy(std::string_view text);
Result<CachePolicy> parse_own_cache_policy(std::string_view text);  // one of a kernel by itself

struct Protocol {
  int version = 1;
  CachePolicy cache = CachePolicy::Warm;
  bool interleaved = false;  // finalists: in turns with each other and the default schedule

  bool operator==(const Protocol&) const = default;
};

std::string print_protocol(const Protocol& protocol);
Result<Protocol> parse_protocol(std::string_view text);

}  // namespace tilewright::record
