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
constexpr size_t kMinOfTask = 256;  // samples that each task of a run keeps at least

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

size_t borrowed_count(size_t others, size_t own) {
  return own >= kEnoughOfOwn ? 0 : others * (kEnoughOfOwn - own) / kEnoughOfOwn;
}

Learner::Learner(std::shared_ptr<cost::CostModel> model, const LearnerOptions& options)
    : model_(std::move(model)), options_(options) {
  CHECK(model_ != nullptr && options_.tasks > 0, "a learner without a model or a task");
  if (options_.tasks > 1) {
    options_.max_samples = std::max(kMinOfTask, 2 * options_.max_samples / options_.tasks);
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
  CHECK(tasks_.size() < groups_of_tasks(), "more tasks joined than LearnerOptions::tasks allows");
  const size_t task = tasks_.size();
  tasks_.emplace_back();
  own_programs_.emplace_back();
  if (origin.task) {
    tasks_[task].origins.emplace(static_cast<uint32_t>(task), origin);
    task_of_origin_.insert_or_assign(origin.key, task);  // of several joins, the last
  }
  counted_.push_back(0);
  borrowed_.push_back(others.size());
  const cost::Samples borrowed = renumbered(others);
  for (size_t k = 0; k < borrowed.size(); ++k) {
    // Similar tasks borrow the same programs: each is used once.
    if (!borrowed.program.empty() && borrowed.origins.contains(borrowed.group[k])) {
      const Hash128& program = borrowed.program[k];
      Hasher hasher;
      hasher.add(borrowed.group[k]).add(program.high).add(program.low);
      if (!known_others_.insert(hasher.finish()).second) continue;
    }
    cost::append_samples(borrowed, k, k + 1, &others_);
    ++seen_;
  }
  return task;
}

std::optional<size_t> Learner::task_of(uint32_t group) const {
  const auto origin = others_.origins.find(group);
  if (origin == others_.origins.end()) return std::nullopt;
  const auto task = task_of_origin_.find(origin->second.key);
  return task == task_of_origin_.end() ? std::nullopt : std::optional(task->second);
}

std::vector<size_t> Learner::used_others(size_t own) const {
  std::vector<size_t> used;
  const size_t max_borrowed = borrowed_count(others_.size(), own);
  for (size_t k = 0; k < max_borrowed; ++k) {
    const std::optional<size_t> task = task_of(others_.group[k]);
    const bool is_own =
        task && !others_.program.empty() && own_programs_[*task].contains(others_.program[k]);
    if (!is_own) used.push_back(k);
  }
  return used;
}

void Learner::append_others(std::span<const size_t> used, cost::Samples* all) const {
  const size_t first = all->size();
  for (size_t k = 0; k < used.size();) {
    const size_t begin = used[k];
    size_t end = begin;
    for (; k < used.size() && used[k] == end; ++k) ++end;
    cost::append_samples(others_, begin, end, all);
  }
  for (size_t k = first; k < all->size(); ++k) {
    const std::optional<size_t> task = task_of(all->group[k]);
    if (task) all->group[k] = static_cast<uint32_t>(*task);
  }
  std::erase_if(all->origins, [&](const auto& entry) { return task_of(entry.first).has_value(); });
}

cost::Samples Learner::all(std::span<const size_t> used) const {
  cost::Samples all;
  for (const cost::Samples& one : tasks_) cost::append_samples(one, one.size(), &all);
  append_others(used, &all);
  return all;
}

Status Learner::learn(size_t task) {
  cost::Samples& fresh = tasks_[task];
  fresh.group.resize(fresh.size(), static_cast<uint32_t>(task));
  seen_ += fresh.size() - counted_[task];
  for (size_t k = counted_[task]; k < fresh.program.size(); ++k) {
    own_programs_[task].insert(fresh.program[k]);
  }
  cost::keep_newest(options_.max_samples, &fresh);
  counted_[task] = fresh.size();

  size_t own = 0, timed = 0;
  for (const cost::Samples& one : tasks_) {
    own += one.size();
    timed += timed_of(one);
  }
  const bool enough = own >= options_.learn_from && timed >= options_.learn_from / 2;
  const std::vector<size_t> used = used_others(own);
  if (!enough && used.size() < kEnoughOfOthers) return {};
  const bool is_first = cost_.trainings == 0;
  if (options_.tasks > 1 && !is_first) {
    const auto since = static_cast<double>(seen_ - seen_at_training_);
    if (since < options_.retrain_share * static_cast<double>(trained_on_)) return {};
  }
  const double begin_s = seconds_now();
  const cost::Samples samples = all(used);
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
