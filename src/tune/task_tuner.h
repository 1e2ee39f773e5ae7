// TaskTuner: searches one task, round by round. An explorer proposes candidates, a TrialRunner
// measures them, the results are reported to the explorer, and the cost model learns. There is no
// I/O, and clocks serve only the report: proposals depend only on the task, the options and the
// verdicts. An interrupted search is therefore rebuilt by replaying it with the known verdicts
// (docs/tuning.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/model.h"
#include "search/explorer.h"
#include "search/program_assessor.h"
#include "space/space.h"
#include "target/machine.h"
#include "tune/learner.h"
#include "tune/models.h"
#include "tune/trial.h"

namespace tilewright::tune {

inline constexpr int kTuneVersion = 3;  // raised when the same verdicts lead to other proposals

struct TaskTunerOptions {
  space::SpaceOptions space{};
  Selection search{.name = "evolution"};  // row of tables.explorers
  Selection cost{.name = "xgboost"};      // row of tables.models
  SearchTables tables{};
  uint64_t seed = 1;
  size_t largest_round = 64;
  // Number of samples from which on the learned model guides, not the analytic one.
  size_t learn_from = 40;
  size_t most_samples = 4096;               // newest samples of the task used for training
  std::shared_ptr<const BaseModel> base{};  // initial cost model; may be null
  bool warm_start = true;                   // also learn from records of other tasks
  bool keeps_memory = true;  // keep caches between rounds; false: less memory, the same proposals
  int threads = 0;           // of the search; 0: one per CPU
  std::function<bool()> stop{};  // true: proposing ends soon, without proposals
};

// Hash of the options that determine the proposals. Custom parts are included by name here, and by
// their results in tune/custom_parts.h.
Hash128 hash_of(const TaskTunerOptions& options);

struct RoundReport {
  size_t round = 0;
  size_t proposed = 0;  // 0: there is nothing new to try
  size_t tried = 0;     // number of those that were tried
  size_t stored = 0;    // number of the tried ones with a known verdict
  bool complete = false;
  double best_ns = 0;                      // over all rounds; 0: nothing timed yet
  std::string model;                       // name of the model that scored them
  std::optional<cost::Quality> quality{};  // quality of its scores
  double propose_s = 0, try_s = 0, learn_s = 0;
  int64_t scored = 0;  // programs scored by the search
};

// The fastest trial so far.
struct Best {
  Proposal proposal;
  Trial trial;
};

class TaskTuner {
 public:
  // The model is trained on the `past` trials of the task and on samples of `others` (groups from 1
  // on) before the first round; the more samples the task has, the fewer of the others are used.
  // `learner`: the learner of the run, which the task joins; null: the task has a private model.
  static Result<TaskTuner> make(const Task& task, const Machine& machine,
                                const TaskTunerOptions& options,
                                std::span<const PastTrial> past = {}, cost::Samples others = {},
                                std::shared_ptr<Learner> learner = nullptr);
  TaskTuner(TaskTuner&&) noexcept;
  TaskTuner& operator=(TaskTuner&&) noexcept;
  ~TaskTuner();

  // Prepares the next round. Does nothing if it is prepared already.
  void propose();
  // Measures up to `most` of the proposed candidates. Once all of them have a verdict, the round is
  // reported to the explorer, the model learns, and the round is complete. Otherwise the search
  // ends here.
  using OnTrial = std::function<void(const Proposal& proposal, const Trial& trial)>;
  // `before_learning` is called once all verdicts are known. No other thread may use the model
  // until it returns.
  Result<RoundReport> try_round(TrialRunner& runner, size_t most, const OnTrial& on_trial = {},
                                const std::function<void()>& before_learning = {});

  const space::Space& space() const;
  size_t rounds() const;
  size_t trials() const;
  const std::optional<Best>& best() const;
  const std::optional<Trial>& default_trial() const;  // of the default schedule
  const cost::CostModel* model() const;               // the model that guides now; may be null
  const cost::Samples& samples() const;               // newest samples of this task
  size_t borrowed() const;                            // number of samples from other tasks
  const Learner* learner() const;                     // null: nothing is learned

 private:
  struct Impl;
  explicit TaskTuner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Number of trials of a round. The first rounds are small, so that the model uses the first results
// soon.
size_t round_size(size_t round, size_t largest);

}  // namespace tilewright::tune
