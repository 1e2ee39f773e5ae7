// Samples: programs that were measured, as a cost model learns from them. Columns of one table: all
// vectors are as long as each other. A value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feature/encoded.h"

namespace tilewright::cost {

struct Samples {
  feature::Inputs inputs{};          // in the encodings of the model that learns from them
  std::vector<uint32_t> group{};     // programs of one task and machine; latencies compare in it
  std::vector<double> latency_ns{};  // 0: it failed (crash, time-out, wrong), which is a label too
  std::vector<float> weight{};       // empty: 1 each; less for what others measured
  // Texts of the traces: any other encoding can be made of them later. Empty: they are not kept.
  std::vector<std::string> trace{};

  size_t size() const { return latency_ns.size(); }
};

// The first `count` of `more` behind those of `samples`. Weights that are not there are 1; traces
// are kept where both have them.
void append_samples(const Samples& more, size_t count, Samples* samples);

// Drops the first ones where there are more than `count`.
void keep_newest(size_t count, Samples* samples);

}  // namespace tilewright::cost
