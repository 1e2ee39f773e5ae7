// TaskTuner: the search of one task, round by round. An explorer proposes, a TrialRunner measures,
// the verdicts are reported to the explorer, and the cost model learns. It reads clocks only for
// its report and does no I/O: its proposals follow from the task, the options, the schedules and
// samples that it begins with, and the verdicts. An interrupted search is rebuilt by replaying it
// with the stored verdicts (docs/tuning.md).
//
// The assessor applies a candidate once and passes its hash and encodings along. It makes the
// encodings of the learned model whichever model guides, so that proposals are not applied again
// for training, nor their relatives in later rounds. The default schedule is applied once here.
// Past trials are traces, which are applied once. A program is applied again only if its encodings
// were dropped for lack of memory; RoundReport::applied_again counts that.
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
#include "tune/carry.h"
#include "tune/learner.h"
#include "tune/models.h"
#include "tune/trial.h"

namespace tilewright::tune {

inline constexpr int kTuneVersion = 10;  // raised when the same verdicts lead to other proposals

struct TaskTunerOptions {
  space::SpaceOptions space{};
  Selection search{.name = "evolution"};  // row of tables.explorers
  Selection cost{.name = "xgboost"};      // row of tables.models
  SearchTables tables{};
  uint64_t seed = 1;
  size_t largest_round = 64;
  bool by_time = false;  // the budget is in seconds: rounds of slow tasks are smaller
  size_t tasks = 1;      // of the run, which share the seconds
  // Number of samples from which on the learned model guides, not the analytic one.
  size_t learn_from = 40;
  size_t max_samples = 4096;                // newest samples of the task used for training
  std::shared_ptr<const BaseModel> base{};  // initial cost model; may be null
  bool warm_start = true;                   // also learn from records of other tasks
  bool carry = true;                        // begin with schedules of similar tasks
  int threads = 0;                          // of the search; 0: one per CPU
  // Bytes of encodings that the search keeps between rounds; large tables of programs are limited
  // to as much. Empty: all that fits its caches. Fewer: more programs are applied again, and the
  // proposals are the same.
  std::optional<size_t> kept_bytes{};
  // Polled while proposing. True: proposing ends without proposals, and the round is never
  // complete, even if `stop` turns false again. With two tasks in flight, two threads poll it at
  // once: it must be thread-safe.
  std::function<bool()> stop{};
};

// The hash of the options that determine the proposals, with the versions of the encodings that the
// model reads. Custom parts enter by their names here, and by their output in tune/custom_parts.h.
// Tasks and machine enter only by the encoders that can be made for them.
Result<Hash128> hash_of(const TaskTunerOptions& options, std::span<const Task> tasks,
                        const Machine& machine);

struct RoundReport {
  size_t round = 0;
  size_t proposed = 0;  // 0: there is nothing new to try
  size_t tried = 0;     // number of those that were tried
  size_t stored = 0;    // number of the tried ones with a known verdict
  size_t carried = 0;   // number of the proposed ones that are schedules of similar tasks
  bool complete = false;
  double best_ns = 0;                      // of all rounds; 0: nothing timed yet
  std::string model;                       // that chose them, unless they were carried
  std::optional<cost::Quality> quality{};  // of its scores
  // learn_s: encoding samples and training; in the first round also the training before it.
  double propose_s = 0, try_s = 0, learn_s = 0;
  // Programs that were applied again, to encode them again. Without those that the tables of the
  // assessor have lost.
  size_t applied_again = 0;
  int64_t scored = 0;  // programs that the search scored
};

// A timed trial.
struct Best {
  Proposal proposal;
  Trial trial;
};
inline constexpr size_t kKeptFastest = 3;  // of the completed rounds

class TaskTuner {
 public:
  // The model is trained on the `past` trials of the task and on samples of `others` (groups from 1
  // on) before the first round; the more samples the task has, the fewer of the others are used.
  // `learner`: the learner of the run, which the task joins; null: the task has a private model.
  static Result<TaskTuner> make(const Task& task, const Machine& machine,
                                const TaskTunerOptions& options,
                                std::span<const PastTrial> past = {},
                                const cost::Samples& others = {},
                                std::shared_ptr<Learner> learner = nullptr);
  TaskTuner(TaskTuner&&) noexcept;
  TaskTuner& operator=(TaskTuner&&) noexcept;
  ~TaskTuner();

  // Schedules of similar tasks, in order of preference. If any of them can be converted, the first
  // round consists of the default schedule and them alone. Before the first call of propose.
  void begin_with(std::vector<Donation> donations);

  // Prepares the next round. Does nothing if it is prepared already.
  void propose();
  // Measures up to `limit` of the proposed candidates. Once all of them have a verdict, the round
  // is reported to the explorer, the model learns, and the round is complete. Otherwise the search
  // ends here.
  using OnTrial = std::function<void(const Proposal& proposal, const Trial& trial)>;
  // `before_learning` is called once all verdicts are known. From then on, no other thread may use
  // the model until try_round returns.
  Result<RoundReport> try_round(TrialRunner& runner, size_t limit, const OnTrial& on_trial = {},
                                const std::function<void()>& before_learning = {});

  const space::Space& space() const;
  size_t rounds() const;
  size_t trials() const;
  const std::optional<Best>& best() const;  // the fastest trial so far
  // The fastest trials of the completed rounds, fastest first, at most kKeptFastest.
  std::span<const Best> fastest() const;
  std::span<const Hash128> carried() const;                 // programs that it began with
  const std::optional<Proposal>& default_proposal() const;  // none before the first round
  const std::optional<Trial>& default_trial() const;        // of the default schedule
  const cost::CostModel* model() const;                     // that guides now; may be null
  std::string_view model_name() const;                      // of its row; `none`: no model guides
  const cost::Samples& samples() const;                     // of this task, the newest
  size_t borrowed() const;                                  // samples of others
  const Learner* learner() const;                           // null: nothing is learned

 private:
  struct Impl;
  explicit TaskTuner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Number of trials of a round. The first rounds are small, so that the model uses the first results
// soon.
size_t round_size(size_t round, size_t largest);

// The largest round of a task. If time is the budget, slow kernels have smaller rounds, which take
// about as long as a large round of fast ones: 64 trials of a second each would leave no time for
// other tasks. With more than 8 tasks they are smaller still, so that each task gets one. The
// duration is predicted from the FLOP of the task and the threads of its target; a measured one
// would differ when the search is replayed.
//   2 threads: 10 GFLOP have rounds of 8, the smallest; 1 GFLOP 40; 0.2 GFLOP those of any budget
//   40 tasks: 10 GFLOP have rounds of 4, the smallest; 1 GFLOP 8
size_t largest_round_of(const Task& task, const TaskTunerOptions& options);

}  // namespace tilewright::tune
