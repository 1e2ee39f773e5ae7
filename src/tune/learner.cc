#include "tune/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "record/store.h"

namespace tilewright::tune {
namespace {

constexpr size_t kEnoughOfOthers = 150;  // samples of others that suffice to start with their model
// With this many, samples from before the run are no longer used.
constexpr size_t kEnoughOfOwn = 512;
constexpr size_t kLeastOfTask = 256;  // samples that each task of a run keeps at least

size_t timed_of(const cost::Samples& samples) {
  return static_cast<size_t>(
      std::ranges::count_if(samples.latency_ns, [](double ns) { return ns > 0; }));
}

}  // namespace

std::string_view text_of(ModelScope scope) { return scope == ModelScope::Run ? "run" : "task"; }

Result<ModelScope> parse_model_scope(std::string_view text) {
  for (const ModelScope scope : {ModelScope::Task, ModelScope::Run}) {
    if (text == text_of(scope)) return scope;
  }
  return fail(ErrorKind::BadInput,
              fmt::format("there is no model scope '{}'; the scopes are task and run", text));
}

cost::SampleOrigin origin_of(const Task& task, const Machine& machine) {
  const Hash128 key = task.key(), id = record::machine_id(machine);
  return {.key = Hasher().add(key.high).add(key.low).add(id.high).add(id.low).finish(),
          .task = std::make_shared<const Task>(task),
          .machine = std::make_shared<const Machine>(machine)};
}

size_t borrowed_beside(size_t others, size_t own) {
  return own >= kEnoughOfOwn ? 0 : others * (kEnoughOfOwn - own) / kEnoughOfOwn;
}

Learner::Learner(std::shared_ptr<cost::CostModel> model, const LearnerOptions& options)
    : model_(std::move(model)), options_(options) {
  CHECK(model_ != nullptr && options_.tasks > 0, "a learner without a model or a task");
  if (options_.tasks > 1) {
    options_.most_samples = std::max(kLeastOfTask, 2 * options_.most_samples / options_.tasks);
  }
}

cost::Samples Learner::renumbered(cost::Samples others) {
  std::map<uint32_t, uint32_t> number;
  std::map<uint32_t, cost::SampleOrigin> origins;
  for (uint32_t& group : others.group) {
    const auto [at, is_new] = number.try_emplace(group, 0);
    if (is_new) {
      const uint32_t next = static_cast<uint32_t>(groups_of_tasks()) + groups_;
      const auto origin = others.origins.find(group);
      at->second = origin == others.origins.end()
                       ? next
                       : group_of_origin_.try_emplace(origin->second.key, next).first->second;
      groups_ += at->second == next ? 1 : 0;
      if (origin != others.origins.end()) origins.emplace(at->second, origin->second);
    }
    group = at->second;
  }
  others.origins = std::move(origins);
  return others;
}

size_t Learner::join(const cost::Samples& others, const cost::SampleOrigin& origin) {
  // A task whose search could not be made may try again.
  CHECK(tasks_.size() < groups_of_tasks(), "more tasks than were said to come");
  const size_t task = tasks_.size();
  tasks_.emplace_back();
  if (origin.task) tasks_[task].origins.emplace(static_cast<uint32_t>(task), origin);
  counted_.push_back(0);
  borrowed_.push_back(others.size());
  const cost::Samples borrowed = renumbered(others);
  for (size_t k = 0; k < borrowed.size(); ++k) {
    // Tasks that are alike borrow the same programs: one of each is enough.
    if (!borrowed.trace.empty() && borrowed.origins.contains(borrowed.group[k])) {
      const Hash128 program = Hasher().add(borrowed.group[k]).add_text(borrowed.trace[k]).finish();
      if (!known_others_.insert(program).second) continue;
    }
    cost::append_samples(borrowed, k, k + 1, &others_);
    ++seen_;
  }
  return task;
}

cost::Samples Learner::all() const {
  size_t own = 0;
  for (const cost::Samples& one : tasks_) own += one.size();
  cost::Samples all;
  for (const cost::Samples& one : tasks_) cost::append_samples(one, one.size(), &all);
  const size_t borrowed = borrowed_beside(others_.size(), own);
  if (borrowed > 0) cost::append_samples(others_, borrowed, &all);
  return all;
}

Status Learner::learn(size_t task) {
  cost::Samples& fresh = tasks_[task];
  fresh.group.resize(fresh.size(), static_cast<uint32_t>(task));
  seen_ += fresh.size() - counted_[task];
  cost::keep_newest(options_.most_samples, &fresh);
  counted_[task] = fresh.size();

  size_t own = 0, timed = 0;
  for (const cost::Samples& one : tasks_) {
    own += one.size();
    timed += timed_of(one);
  }
  const bool enough = own >= options_.learn_from && timed >= options_.learn_from / 2;
  const size_t borrowed = borrowed_beside(others_.size(), own);
  if (!enough && borrowed < kEnoughOfOthers) return {};
  const bool is_first = cost_.trainings == 0;
  if (options_.tasks > 1 && !is_first) {
    const auto since = static_cast<double>(seen_ - seen_at_training_);
    if (since < options_.retrain_share * static_cast<double>(trained_on_)) return {};
  }
  const double begin_s = seconds_now();
  const cost::Samples samples = all();
  TRY(model_->train(samples));
  trained_on_ = samples.size();
  seen_at_training_ = seen_;
  cost_.trainings += 1;
  cost_.samples += static_cast<int64_t>(samples.size());
  cost_.seconds += seconds_now() - begin_s;
  return {};
}

bool Learner::guides(size_t task) const {
  if (!model_->is_trained()) return false;
  // The shared model, or a private one.
  if (cost_.trainings == 0 || options_.tasks == 1) return true;
  const size_t own = tasks_[task].size();
  return own >= options_.learn_from || trained_on_ - std::min(trained_on_, own) >= kEnoughOfOthers;
}

}  // namespace tilewright::tune
