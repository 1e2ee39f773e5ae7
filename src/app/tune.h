// tune: searches the space of each operator, or of each kernel of a model, for its fastest
// schedule. Every measurement goes into the store; an interrupted run resumes, a repeated one
// measures nothing (docs/tuning.md). Options and outcome are values. Progress goes to a listener,
// which is called on the caller's thread; a StopToken ends the run early, with everything kept.
//
//   TuneListener silent;
//   tune({.what = {"resnet50.onnx"}, .workers = folder, .seconds = 60}, silent, {});
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "app/model_finals.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "app/tune_row.h"
#include "app/tune_tally.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "base/table.h"
#include "deploy/back_end_tables.h"
#include "tune/tuning.h"

namespace tilewright::app {

struct TuneOptions {
  std::vector<std::string> what{};  // models, operators, names of the suite, or `suite`
  ModelChoice model{};              // how models among them are read; its `what` is not used
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::filesystem::path workers{};  // the folder of the worker programs (app/workers.h)
  int64_t trials = 0;    // of all tasks; 0: by the tasks, or no limit where seconds are set
  double seconds = 0;    // for all of it, finals included; 0: no limit
  int64_t patience = 0;  // a task ends after N trials without improvement; 0: never
  uint64_t seed = 1;
  std::vector<std::string> space_off{};  // rules and extensions to leave out
  std::string search = "evolution";
  std::string cost = "xgboost";
  std::string model_scope = "task";  // `run`: one cost model for all tasks
  std::string objective{};           // empty: geometric_mean of several operators, else sum
  std::vector<double> latency_targets_us{};
  std::string cache{};       // empty: weights_cold for models, else warm
  std::string model_file{};  // where the learned cost model is written; empty: nowhere
  std::string from_model{};  // a cost model to begin with; empty: none
  bool force = false;        // measure programs again that have a verdict in the store
  bool scheduler = true;     // false: tasks take turns
  bool warm_start = true;    // learn from the records of other tasks
  bool model_finals = true;  // compare the fastest schedules of a model inside it
  size_t learn_from = tune::TaskTunerOptions().learn_from;
  deploy::BackEndTables tables{};  // that the workers have too
};

// Where a run stands.
struct TuneProgress {
  const TuneTally& tally;
  double elapsed_s = 0;
  double left_s = std::numeric_limits<double>::infinity();  // an estimate; infinite: not known
  double peak_gflops = 0;                                   // of this machine, f32
};

// A round that has ended.
struct TuneRound {
  std::string name;  // of its task
  Hash128 task;
  double weight = 1;
  const tune::RoundReport& report;
  std::span<const tune::Trial> trials;
};

class TuneListener {
 public:
  virtual ~TuneListener() = default;
  virtual void on_trial(const TuneProgress& /*progress*/) {}
  virtual void on_round(const TuneRound& /*round*/) {}
  virtual void on_search_end(const TuneProgress& /*progress*/) {}  // finals follow
  virtual void on_model_finals(size_t /*libraries*/) {}            // are built and compared now
  virtual void on_model_finals_end() {}                            // of one model
};

struct TuneOutcome {
  std::vector<TuneRow> rows;
  bool of_model = false;
  ModelTime model_time{};  // of the rows
  double mean_gain = 0;    // mean_gain_of the rows
  TuneTally tally;
  double overhead_s = 0;  // of search and learning
  tune::LearningCost learning{};
  bool shares_model = false;  // all tasks had one cost model
  std::string scored_task;    // of the last round with scores; empty: none
  tune::RoundReport scored_round{};
  Hash128 trajectory;
  bool resumed = false;
  bool stopped = false;          // by the token
  bool known = false;            // tuned before with this budget: the rows are those of the store
  bool nothing_learned = false;  // so model_file is not written
  std::string records;           // the store
  double all_s = 0, finals_s = 0;
  double peak_gflops = 0;
  std::vector<ModelFinals> in_models = {};  // one per model
  Status status = {};                       // what ended it early, after some trials

  bool has_winner() const;
};

// What `search` and `cost` may name, with options, for help.
std::vector<TableEntry> explorer_entries();
std::vector<TableEntry> cost_model_entries();

// An error where nothing could be tried.
Result<TuneOutcome> tune(const TuneOptions& options, TuneListener& listener, const StopToken& stop);

}  // namespace tilewright::app
