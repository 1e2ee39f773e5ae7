// Warm start: samples of other tasks, on which the cost model is trained before the first trial.
// They are programs that were measured for the same target under the same protocol, the most
// similar tasks first (task/similarity.h). They are encoded again from the stored traces, with the
// caches of the machine that measured them. Latencies compare only within a task and machine, which
// are therefore one group.
#pragma once

#include "cost/samples.h"
#include "feature/encoding.h"
#include "feature/encodings.h"
#include "record/store.h"
#include "target/machine.h"
#include "task/workload.h"
#include "tune/trajectory.h"

namespace tilewright::tune {

struct WarmStartOptions {
  size_t max_programs = 1500;
  size_t max_of_task = 300;
  size_t max_read = 20'000;  // attempts read, from which the samples are chosen
  double weight = 0.3;       // per sample; samples of the task itself have weight 1
};

struct OtherSamples {
  // Groups from 1 on, each with its origin; 0 is the task itself. The fastest of a group is its
  // first sample, so that a prefix has it too.
  cost::Samples samples{};
  size_t tasks = 0;

  bool empty() const { return samples.size() == 0; }
};

// The inputs of the learned model.
struct LearnedInput {
  std::vector<std::string> encodings = {"features"};
  const feature::EncodingTable* table = &feature::encodings();
};

// True if numbers of all these encodings are comparable across tasks.
Result<bool> compares_across_tasks(const Task& task, const Machine& machine,
                                   const LearnedInput& input);

// Uses only records from before the trajectory began, so that the result is always the same.
// Records that this version cannot read are left out. An encoding that does not compare across
// tasks gives no samples.
Result<OtherSamples> samples_of_others(record::Store& store, const Task& task,
                                       const Machine& machine, const record::Setting& setting,
                                       const Trajectory& trajectory, const LearnedInput& input = {},
                                       const WarmStartOptions& options = {});

}  // namespace tilewright::tune
