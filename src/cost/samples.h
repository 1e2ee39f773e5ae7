// Samples: measured programs, the training data of one cost model. The vectors are columns of one
// table and have equal lengths. A program that an encoding of that model cannot represent is not
// here: the model can neither score it nor learn from it. Its trace, program and latency are in the
// store, from which the samples of any other model are made (tune/stored_trials.h,
// tune/warm_start.h). A value; origins are shared between copies.
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

// The task and the machine that the programs of a group were measured for and on. Their traces are
// encoded for these.
struct SampleOrigin {
  Hash128 key;  // of both; latencies of one key are comparable
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Machine> machine;
};

struct Samples {
  feature::Inputs inputs{};          // in the encodings of the model that learns from them
  std::vector<uint32_t> group{};     // of one task and machine: latencies are comparable
  std::vector<double> latency_ns{};  // 0: it failed (crash, time-out, wrong), which is a label too
  std::vector<float> weight{};       // empty: 1 each; lower for samples of other tasks
  // Texts of the traces of the samples, from which any other encoding can be computed later. Empty:
  // not kept. An empty text is the trace without steps.
  std::vector<std::string> trace{};
  // Hashes of the programs, so that a program from two sources counts once. Empty: unknown.
  std::vector<Hash128> program{};
  std::map<uint32_t, SampleOrigin> origins{};  // by group; a group may lack one

  size_t size() const { return latency_ns.size(); }
};

// Appends samples `first` to `last` of `more`. Missing weights are 1; both have
// traces or neither has, and so for hashes, unless one of them has no samples. A group has the same
// origin in both.
void append_samples(const Samples& more, size_t first, size_t last, Samples* samples);
// Appends the first `count` samples of `more`.
void append_samples(const Samples& more, size_t count, Samples* samples);

// Drops the oldest samples if there are more than `count`.
void keep_newest(size_t count, Samples* samples);

}  // namespace tilewright::cost
