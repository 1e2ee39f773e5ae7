// Samples: measured programs as training data of a cost model. A table in columns: all vectors have
// the same length. A value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feature/encoded.h"

namespace tilewright::cost {

struct Samples {
  feature::Inputs inputs{};  // in the encodings of the model that is trained
  // Programs of one task and machine, whose latencies are comparable.
  std::vector<uint32_t> group{};
  // 0: a failure (crash, timeout, wrong result), which is a label too.
  std::vector<double> latency_ns{};
  std::vector<float> weight{};  // empty: 1 each; less for samples of other tasks
  // Texts of the traces, from which any other encoding can be computed later. Empty: not kept.
  std::vector<std::string> trace{};

  size_t size() const { return latency_ns.size(); }
};

// Appends the first `count` of `more` to `samples`. Missing weights are 1. Traces are kept if both
// have them.
void append_samples(const Samples& more, size_t count, Samples* samples);

// Drops the oldest samples if there are more than `count`.
void keep_newest(size_t count, Samples* samples);

}  // namespace tilewright::cost
