// tune: searches for the fastest schedule of each operator, or of each kernel of a model. Every
// measurement is stored; an interrupted run resumes, and a repeated one measures nothing
// (docs/tuning.md). Options and outcome are values. A listener receives progress on the caller's
// thread. A StopToken ends the run early and keeps all results.
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

// Ranges of options. For trials, seconds and patience, 0 is allowed as well.
inline constexpr int64_t kMaxTrials = 1'000'000'000;  // also of patience
inline constexpr double kMinSeconds = 0.1, kMaxSeconds = 1e9;
inline constexpr size_t kMinLearnFrom = 2, kMaxLearnFrom = 1'000'000;

struct TuneOptions {
  std::vector<std::string> what{};  // models, operators, names of the suite, or `suite`
  ModelChoice model{};              // how to read the models; its `what` is ignored
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::filesystem::path workers{};  // folder of the worker programs (app/workers.h)
  int64_t trials = 0;    // of all tasks; 0: chosen by the tasks, or unlimited if seconds are set
  double seconds = 0;    // whole run, finals included; 0: no limit
  int64_t patience = 0;  // a task ends after N trials without improvement; 0: never
  uint64_t seed = 1;
  space::SpaceOptions space{};       // what is turned off; custom rules; a template
  std::string search = "evolution";  // row of search_tables.explorers, with options
  std::string cost = "xgboost";      // row of search_tables.models, with options
  std::string model_scope = "task";  // `run`: one cost model for all tasks
  std::string objective{};           // empty: geometric_mean for several operators, otherwise sum
  std::vector<double> latency_targets_us{};
  std::string cache{};       // empty: weights_cold for models, otherwise warm
  std::string model_file{};  // file for the learned cost model; empty: not written
  std::string from_model{};  // file of the initial cost model; empty: none
  bool force = false;        // also measure programs with a stored verdict
  bool scheduler = true;     // false: round robin
  bool warm_start = true;    // learn from the records of other tasks, and begin with them
  bool carry = true;         // begin with schedules of similar tasks, of records or of the run
  bool model_finals = true;  // compare the fastest schedules of a model's kernels inside the model
  size_t learn_from = tune::TaskTunerOptions().learn_from;  // trials before the model guides
  std::string command{};  // noted in the store as the origin of the verdicts; empty: `tune WHAT`
  deploy::BackEndTables tables{};  // that the workers have too
  tune::SearchTables search_tables{};
};

// Progress of a run.
struct TuneProgress {
  const TuneTally& tally;
  double elapsed_s = 0;
  double left_s = std::numeric_limits<double>::infinity();  // estimate; infinite: unknown
  double peak_gflops = 0;                                   // of this machine, f32
};

// A completed round.
struct TuneRound {
  std::string name;  // name of its task
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
  virtual void on_search_end(const TuneProgress& /*progress*/) {}  // the finals follow
  virtual void on_model_finals(size_t /*libraries*/) {}  // are about to be built and compared
  virtual void on_model_finals_end() {}                  // once per model
};

struct TuneOutcome {
  std::vector<TuneRow> rows;  // one per task; none: stopped while a model was planned
  bool of_model = false;
  ModelTime model_time{};  // of the rows
  double mean_gain = 0;    // mean_gain_of the rows
  TuneTally tally;
  double overhead_s = 0;  // time of search and learning
  tune::LearningCost learning{};
  bool shares_model = false;   // all tasks shared one cost model
  std::string why_not_shared;  // why model_scope `run` had no effect; may be empty
  std::string scored_task;     // task of the last round with scores; empty: none
  tune::RoundReport scored_round{};
  Hash128 trajectory;
  bool resumed = false;
  bool stopped = false;          // by the StopToken
  bool known = false;            // completed earlier with this budget: the rows come from the store
  bool nothing_learned = false;  // too few trials to train, so model_file is not written
  std::string records;           // path of the store
  double all_s = 0, finals_s = 0;
  double peak_gflops = 0;
  std::vector<ModelFinals> in_models = {};  // one per model
  Status status = {};                       // error that ended the run early, after some trials

  bool has_winner() const;
  double trials_per_s() const { return tally.trials_per_s(all_s); }
};

// The built-in rows that `search` and `cost` may name, with options, for help texts.
std::vector<TableEntry> explorer_entries();
std::vector<TableEntry> cost_model_entries();

// An error if an option is out of its range, or if no trial was possible.
Result<TuneOutcome> tune(const TuneOptions& options, TuneListener& listener, const StopToken& stop);

}  // namespace tilewright::app
