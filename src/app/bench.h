// bench: measures the latency of models: quantiles of whole runs, the time of each task, and
// optionally other libraries in alternation. Compiled models and model files run in this process,
// timed by measure/model_clock.h. docs/models.md.
//
//   BenchListener silent;
//   bench({.what = {"resnet50.so"}, .seconds = 3}, silent, {});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "app/peers_run.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "measure/model_clock.h"

namespace tilewright::app {

struct BenchOptions {
  // One model; several must be compiled ones and run in alternation.
  std::vector<std::string> what{};
  ModelChoice model{};  // how to read a model file; its `what` is ignored
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::vector<std::string> inputs{};  // NAME=FILE.npy; the other inputs are random
  uint64_t random_seed = 1;           // of the other inputs
  double seconds = 3;
  // Compared with the first model; none if `peers` is empty. For a .so, `model` is the file it was
  // compiled from. bench sets the library, the inputs and the threads.
  PeersRun peers = {};
  deploy::BackEndTables tables{};
};

// The steps with one title.
struct StepGroup {
  std::string title;
  size_t count = 0;
  double ns = 0;  // sum of their times
};

// A kernel some of whose calls take at least twice as long as a call took when it was tuned.
struct SlowKernel {
  std::string title;
  size_t slow_calls = 0;
  size_t calls = 0;
  double ns = 0;  // of its slowest call, the median
  double tuned_ns = 0;

  double slowdown() const { return ns / tuned_ns; }
};

// A quantile of the times of whole runs: `share` of the runs take at most `ns`.
struct RunQuantile {
  double share = 0;
  double ns = 0;
};

struct BenchedModel {
  std::string name;
  int threads = 1;
  measure::ModelTiming timing;
  std::vector<RunQuantile> quantiles;
  std::vector<StepGroup> tasks;  // largest share first
  double tasks_ns = 0;           // sum over all tasks
  std::vector<SlowKernel> slow;  // in order of first use
  double load_s = 0;
  int64_t memory_bytes = 0;
  size_t untuned = 0;  // model file: number of kernels with their default schedule

  double share_of(const StepGroup& task) const { return task.ns / tasks_ns; }
};

class BenchListener {
 public:
  virtual ~BenchListener() = default;
  virtual void on_loaded(const std::string& /*what*/, size_t /*untuned*/) {}
  virtual void on_timed(const BenchedModel& /*model*/) {}
};

struct BenchOutcome {
  std::vector<BenchedModel> models;  // empty after a stop before all were loaded
  std::string peers;                 // output of the peer harness
};

// Checks the options without loading anything.
Status check_bench(const BenchOptions& options);

Result<BenchOutcome> bench(const BenchOptions& options, BenchListener& listener,
                           const StopToken& stop);

// Groups steps by title, in order of first use.
std::vector<StepGroup> group_steps(const TilewrightModelApi& api,
                                   const measure::ModelTiming& timing);

// By the times that the model was compiled with. None if `threads` is not the number that it was
// compiled for, or if it is older than those times.
std::vector<SlowKernel> find_slow_kernels(const TilewrightModelApi& api, int threads,
                                          const measure::ModelTiming& timing);

}  // namespace tilewright::app
