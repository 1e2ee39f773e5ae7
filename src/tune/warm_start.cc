#include "tune/warm_start.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "feature/program_encoder.h"
#include "schedule/apply.h"
#include "task/similarity.h"
#include "tune/learner.h"

namespace tilewright::tune {
namespace {

struct Other {
  Task task;
  std::pair<Likeness, double> distance;
};

// Stored tasks with the target of `task`, most similar first.
Result<std::vector<Other>> others_of(record::Store& store, const Task& task) {
  const std::vector<record::StoredTask> stored = TRY(store.tasks());
  const std::string target = record::stored_form(task).target;
  std::vector<Other> others;
  for (const record::StoredTask& one : stored) {
    if (one.target != target) continue;
    Result<Task> other = record::task_of(one);
    if (!other) continue;  // from another version, or created from C++
    const auto far = distance(task.workload, other->workload);
    others.push_back({.task = std::move(*other), .distance = far});
  }
  std::ranges::sort(others, {},
                    [](const Other& one) { return std::pair(one.distance, one.task.key()); });
  return others;
}

struct Measured {
  Hash128 program;
  std::string trace;
  double label_ns = 0;
};

// Per machine: the last verdict of each program.
using OfMachines = std::map<Hash128, std::map<Hash128, Measured>>;

struct Reader {
  record::Store& store;
  const record::Setting& setting;
  const Trajectory& trajectory;
  size_t left = 0;  // attempts that may be read

  Result<OfMachines> read(const Hash128& task) {
    OfMachines found;
    Status status = store.for_each_attempt(task, [&](const record::Attempt& attempt) {
      // The trajectory's own records are later than its begin; it learns from them as it proceeds.
      if (attempt.end_us >= trajectory.begin_us) return true;
      if (attempt.protocol != setting.protocol) return true;
      if (attempt.code_generator != setting.code_generator) return true;
      if (attempt.task == setting.task && attempt.machine == setting.machine) return true;
      const record::VerdictKind kind = attempt.verdict.kind;
      if (kind == record::VerdictKind::Device || kind == record::VerdictKind::Illegal) return true;
      if (left == 0) return false;
      --left;
      found[attempt.machine][attempt.program] = {
          .program = attempt.program,
          .trace = attempt.trace,
          .label_ns = record::is_failure(kind) ? 0 : attempt.verdict.latency_ns};
      return true;
    });
    TRY(status);
    return found;
  }
};

// At even distances if there are more than `limit`: programs are ordered by their hash, so this is
// a fair draw. The fastest is always the first: the labels of the others are relative to it.
std::vector<const Measured*> pick(const std::map<Hash128, Measured>& programs, size_t limit) {
  std::vector<const Measured*> all;
  all.reserve(programs.size());
  for (const auto& [program, one] : programs) all.push_back(&one);
  if (all.empty() || limit == 0) return {};
  const Measured* const fastest = *std::ranges::min_element(
      all, {}, [](const Measured* one) { return one->label_ns > 0 ? one->label_ns : HUGE_VAL; });
  std::vector<const Measured*> picked = {fastest};
  const size_t count = std::min(limit, all.size());
  for (size_t k = 0; picked.size() < count && k < count; ++k) {
    const Measured* const one = all[k * all.size() / count];
    if (one != fastest) picked.push_back(one);
  }
  return picked;
}

// Appends the programs that can be read, applied and encoded. Returns their number.
Result<size_t> add_samples(const Task& task, const Machine& machine, const LearnedInput& input,
                           std::span<const Measured* const> picked, uint32_t group, double weight,
                           cost::Samples* samples) {
  const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
  if (!initial) return 0;
  feature::ProgramEncoder encoder = TRY(feature::ProgramEncoder::make(
      {.task = &task, .machine = &machine, .initial = &*initial}, input.encodings, *input.table));
  if (!encoder.compares_across_tasks()) return 0;
  size_t added = 0;
  for (const Measured* const one : picked) {
    const Result<schedule::Trace> trace = schedule::trace_from_text(one->trace);
    if (!trace || !encoder.append(*trace, &samples->inputs)) continue;
    samples->group.push_back(group);
    samples->latency_ns.push_back(one->label_ns);
    samples->weight.push_back(static_cast<float>(weight));
    samples->trace.push_back(one->trace);
    samples->program.push_back(one->program);
    ++added;
  }
  return added;
}

}  // namespace

Result<bool> compares_across_tasks(const Task& task, const Machine& machine,
                                   const LearnedInput& input) {
  const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload));
  const feature::ProgramEncoder encoder = TRY(feature::ProgramEncoder::make(
      {.task = &task, .machine = &machine, .initial = &initial}, input.encodings, *input.table));
  return encoder.compares_across_tasks();
}

Result<OtherSamples> samples_of_others(record::Store& store, const Task& task,
                                       const Machine& machine, const record::Setting& setting,
                                       const Trajectory& trajectory, const LearnedInput& input,
                                       const WarmStartOptions& options) {
  const std::vector<Other> others = TRY(others_of(store, task));
  OtherSamples result;
  Reader reader{
      .store = store, .setting = setting, .trajectory = trajectory, .left = options.max_read};
  uint32_t group = 0;
  std::set<Hash128> tasks;
  for (const Other& other : others) {
    if (reader.left == 0 || result.samples.size() >= options.max_programs) break;
    const OfMachines found = TRY(reader.read(other.task.key()));
    for (const auto& [of_machine, programs] : found) {
      const std::optional<Machine> there = TRY(store.find_machine(of_machine));
      if (of_machine != setting.machine && !there) continue;  // caches are part of the encoding
      const Machine& measured_on = of_machine == setting.machine ? machine : *there;
      const size_t room = options.max_programs - result.samples.size();
      const auto picked = pick(programs, std::min(options.max_of_task, room));
      const size_t added = TRY(add_samples(other.task, measured_on, input, picked, ++group,
                                           options.weight, &result.samples));
      if (added == 0) continue;
      tasks.insert(other.task.key());
      result.samples.origins.emplace(group, origin_of(other.task, measured_on));
    }
  }
  result.tasks = tasks.size();
  return result;
}

}  // namespace tilewright::tune
