// Learner: collects the samples of a learned cost model and decides when to train it. It serves one
// task, or all tasks of a run as in Ansor: the measurements of one task then guide the others from
// their next round on.
//
// The training data depends on the order in which rounds end and on their verdicts in the order of
// proposal, never on time. A replayed search therefore trains the same models.
//
// With one model per run, it is retrained once the new samples reach a fixed share of those of the
// last training. Over a run, each sample is then used in a bounded number of trainings, however
// many tasks there are. A model of one task is retrained after each round.
//
//   4 tasks, share 1/12: trained after 24, 48, ... samples, and at 1,200 every 100 samples
//
// Not thread-safe. Predictions of the model may run concurrently with each other, but not with
// training.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "cost/model.h"
#include "cost/samples.h"

namespace tilewright::tune {

// The tasks that share one model.
enum class ModelScope : uint8_t {
  Task,  // one model per task
  Run,   // one model for all tasks
};
std::string_view text_of(ModelScope scope);
Result<ModelScope> parse_model_scope(std::string_view text);

struct LearnerOptions {
  size_t tasks = 1;        // number of tasks that will join
  size_t learn_from = 40;  // minimum number of samples for training
  // Newest samples kept per task; a run keeps up to twice as many in all.
  size_t max_samples = 4096;
  double retrain_share = 1.0 / 12;
};

// Cost of training so far.
struct LearningCost {
  int64_t trainings = 0;
  int64_t samples = 0;  // summed over all trainings
  double seconds = 0;
};

class Learner {
 public:
  Learner(std::shared_ptr<cost::CostModel> model, const LearnerOptions& options);

  // Adds a task, with borrowed samples `others` from before the run (groups from 1 on). Samples of
  // one origin are one group of the run, even if several tasks borrow them or the origin is a task
  // of the run. A program counts once per group, with the measurement by its task if that is in the
  // run. Returns the number of the task, which is its group.
  size_t join(const cost::Samples& others, const cost::SampleOrigin& origin = {});
  // The caller appends samples of a task: inputs, latency, trace and program, one of each. Group
  // and weight are filled in here.
  cost::Samples& samples(size_t task) { return tasks_[task]; }
  const cost::Samples& samples(size_t task) const { return tasks_[task]; }

  // Call after a round of the task, or after it joined with samples. Trains the model if it is due.
  Status learn(size_t task);

  const cost::CostModel& model() const { return *model_; }
  // True if the model was trained on enough samples to guide this task: its own, or many borrowed
  // ones.
  bool guides(size_t task) const;
  int64_t version() const { return cost_.trainings; }             // changes whenever scores change
  size_t borrowed(size_t task) const { return borrowed_[task]; }  // samples it joined with
  const LearningCost& cost() const { return cost_; }

 private:
  // The borrowed samples that are used along with `own` samples of the run, as indices.
  std::vector<size_t> used_others(size_t own) const;
  void append_others(std::span<const size_t> used, cost::Samples* all) const;
  cost::Samples all(std::span<const size_t> used) const;
  // The task of the run that measured the programs of a borrowed group; none: a task outside the
  // run.
  std::optional<size_t> task_of(uint32_t group) const;
  // The samples, with groups numbered as in the run.
  cost::Samples renumbered(cost::Samples others);
  size_t groups_of_tasks() const { return options_.tasks == 1 ? 1 : 2 * options_.tasks; }

  std::shared_ptr<cost::CostModel> model_;
  LearnerOptions options_;
  std::vector<cost::Samples> tasks_;
  std::vector<size_t> borrowed_;
  cost::Samples others_;                      // borrowed, from before the run
  std::unordered_set<Hash128> known_others_;  // groups and programs of others_
  std::map<Hash128, size_t> task_of_origin_;
  std::vector<std::unordered_set<Hash128>> own_programs_;  // per task: programs that it measured
  std::map<Hash128, uint32_t> group_of_origin_;
  uint32_t groups_ = 0;    // number of borrowed groups
  size_t trained_on_ = 0;  // samples of the run, at the last training
  size_t seen_ = 0;        // samples of the run, including dropped ones
  size_t seen_at_training_ = 0;
  std::vector<size_t> counted_;  // per task: how many of its samples are counted in seen_
  LearningCost cost_;
};

// The origin of the samples of a task that `machine` measured.
cost::SampleOrigin origin_of(const Task& task, const Machine& machine);

// The number of borrowed samples, from the front, that are used along with `own` samples of the
// run.
size_t borrowed_count(size_t others, size_t own);

}  // namespace tilewright::tune
