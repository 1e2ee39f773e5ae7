#include "tune/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace tilewright::tune {
namespace {

constexpr size_t kEnoughOfOthers = 150;  // samples of others that suffice to start with their model
// With this many, samples from before the run are no longer used.
constexpr size_t kEnoughOfOwn = 512;
constexpr size_t kLeastOfTask = 256;  // samples that each task of a run keeps at least

void append_one(const cost::Samples& from, size_t k, uint32_t group, cost::Samples* to) {
  feature::append(from.inputs, k, k + 1, &to->inputs);
  to->group.push_back(group);
  to->latency_ns.push_back(from.latency_ns[k]);
  to->weight.push_back(from.weight.empty() ? 1.0F : from.weight[k]);
  to->trace.push_back(from.trace.empty() ? "" : from.trace[k]);
}

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

size_t Learner::join(const cost::Samples& others) {
  // A task whose search could not be created may be tried again.
  CHECK(tasks_.size() < groups_of_tasks(), "more tasks than were said to come");
  tasks_.emplace_back();
  counted_.push_back(0);
  borrowed_.push_back(others.size());
  uint32_t most = 0;
  for (size_t k = 0; k < others.size(); ++k) {
    most = std::max(most, others.group[k]);
    // Similar tasks borrow the same programs: each is used once.
    if (options_.tasks > 1 && !others.trace.empty() && others.latency_ns[k] > 0) {
      const auto [at, is_new] =
          known_others_.insert(fmt::format("{} {}", others.latency_ns[k], others.trace[k]));
      if (!is_new) continue;
    }
    const auto first = static_cast<uint32_t>(groups_of_tasks() - 1) + groups_;
    append_one(others, k, first + others.group[k], &others_);
    ++seen_;
  }
  groups_ += most;
  return tasks_.size() - 1;
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
