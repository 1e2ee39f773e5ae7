// bench: how long models take: quantiles of whole runs, the time of each task, and other libraries
// in turns with them. Compiled models and model files are run in this process by measure's clock of
// models (measure/model_clock.h). docs/models.md.
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
  std::vector<std::string> what{};  // one model; several, which take turns, are compiled ones
  ModelChoice model{};              // how it is read; its `what` is not used
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::vector<std::string> inputs{};  // NAME=FILE.npy; others are random
  uint64_t seed = 1;                  // of those
  double seconds = 3;
  // Of the first model; without names: none. `model` is of a .so the file it was compiled from.
  // Files, inputs and threads are otherwise those of these options.
  PeersRun peers = {};
  deploy::BackEndTables tables{};
};

// The steps of one title.
struct StepGroup {
  std::string title;
  size_t count = 0;
  double ns = 0;  // of all of them
};

// Of whole runs: the share of them that take at most so long.
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
  double tasks_ns = 0;           // all of them together
  double load_s = 0;
  int64_t memory_bytes = 0;
  size_t untuned = 0;  // of a model file: kernels with their default schedule
};

class BenchListener {
 public:
  virtual ~BenchListener() = default;
  virtual void on_loaded(const std::string& /*what*/, size_t /*untuned*/) {}
  virtual void on_timed(const BenchedModel& /*model*/) {}
};

struct BenchOutcome {
  std::vector<BenchedModel> models;
  std::string peers;  // what the peers' harness printed
};

// What is wrong with the options, before anything is loaded.
Status check_bench(const BenchOptions& options);

Result<BenchOutcome> bench(const BenchOptions& options, BenchListener& listener,
                           const StopToken& stop);

// By title, in order of first use.
std::vector<StepGroup> group_steps(const TilewrightModelApi& api,
                                   const measure::ModelTiming& timing);

}  // namespace tilewright::app
