// Warm start: training samples from the records of other tasks, available before the first trial.
// They are programs measured for the same target under the same protocol, those of the most similar
// tasks first. They are encoded again from the stored traces, with the caches of the machine that
// measured them. Latencies compare only within a task, so each task and machine is a separate
// group.
#pragma once

#include "cost/samples.h"
#include "feature/encoding.h"
#include "record/store.h"
#include "target/machine.h"
#include "task/workload.h"
#include "tune/trajectory.h"

namespace tilewright::tune {

struct WarmStartOptions {
  size_t most_programs = 1500;
  size_t most_of_task = 300;
  size_t most_read = 20'000;  // attempts read, from which the samples are chosen
  double weight = 0.3;        // per sample; samples of the task itself have weight 1
};

struct OtherSamples {
  cost::Samples samples{};  // groups from 1 on; 0 is the task itself
  size_t tasks = 0;

  bool empty() const { return samples.size() == 0; }
};

// The inputs of the learned model.
struct LearnedInput {
  std::vector<std::string> encodings = {"features"};
  const feature::EncodingTable* table = &feature::encodings();
};

// Uses only records from before the trajectory began, so that the result is always the same.
// Records that this version cannot read are left out. An encoding that does not compare across
// tasks gives no samples.
Result<OtherSamples> samples_of_others(record::Store& store, const Task& task,
                                       const Machine& machine, const record::Setting& setting,
                                       const Trajectory& trajectory, const LearnedInput& input = {},
                                       const WarmStartOptions& options = {});

// Distance of two workloads: first 0 for equal ones, 1 for one similarity group, 2 for the same
// kinds of operators, 3 for others; then the distance of their FLOP.
std::pair<int, double> distance(const Workload& one, const Workload& other);

}  // namespace tilewright::tune
