// What a search may learn before its first trial from the records of other tasks: programs that
// were measured for the same target and in the same way, those of the most similar tasks first.
// They are encoded anew from the stored traces, with the caches of the machine that measured;
// latencies compare within a task only, so each task and machine is a group of its own.
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
  size_t most_programs = 1500;
  size_t most_of_task = 300;
  size_t most_read = 20'000;  // attempts, of which those are picked
  double weight = 0.3;        // of a sample; one's own weigh 1
};

struct OtherSamples {
  cost::Samples samples{};  // groups from 1 on: 0 is the task itself
  size_t tasks = 0;

  bool empty() const { return samples.size() == 0; }
};

// What the model that learns reads.
struct LearnedInput {
  std::vector<std::string> encodings = {"features"};
  const feature::EncodingTable* table = &feature::encodings();
};

// Only what was measured before the trajectory began, so that it is the same whenever it is asked
// for. A record that this version cannot read is left out; an encoding that does not compare across
// tasks gives none.
Result<OtherSamples> samples_of_others(record::Store& store, const Task& task,
                                       const Machine& machine, const record::Setting& setting,
                                       const Trajectory& trajectory, const LearnedInput& input = {},
                                       const WarmStartOptions& options = {});

// How alike two workloads are, most alike first: 0 the same, 1 one similarity group, 2 the same
// kinds of operators, 3 others; then how far their FLOP are apart.
std::pair<int, double> distance(const Workload& one, const Workload& other);

}  // namespace tilewright::tune
