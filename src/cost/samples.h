// Samples: programs that were measured, as a cost model learns from them. Columns of one table: all
// vectors are as long as each other. A value; origins are shared between copies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "feature/encoded.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::cost {

// Where the programs of a group were measured: their traces are encoded for this task and machine.
struct SampleOrigin {
  Hash128 key;  // of both: latencies of one key compare
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Machine> machine;
};

struct Samples {
  feature::Inputs inputs{};          // in the encodings of the model that learns from them
  std::vector<uint32_t> group{};     // programs of one task and machine; latencies compare in it
  std::vector<double> latency_ns{};  // 0: it failed (crash, time-out, wrong), which is a label too
  std::vector<float> weight{};       // empty: 1 each; less for what others measured
  // Texts of the traces: any other encoding can be made of them later. Empty: they are not kept.
  // An empty text is the trace without steps.
  std::vector<std::string> trace{};
  // Hashes of the programs: what two sources have measured is learned once. Empty: unknown.
  std::vector<Hash128> program{};
  std::map<uint32_t, SampleOrigin> origins{};  // by group; a group may lack one

  size_t size() const { return latency_ns.size(); }
};

// Samples `first` to `last` of `more` behind those of `samples`. Weights that are not there are 1;
// traces and hashes are kept where both have them. One group is of one origin in both.
void append_samples(const Samples& more, size_t first, size_t last, Samples* samples);
// The first `count` of `more`.
void append_samples(const Samples& more, size_t count, Samples* samples);

// Drops the oldest samples if there are more than `count`.
void keep_newest(size_t count, Samples* samples);

}  // namespace tilewright::cost
