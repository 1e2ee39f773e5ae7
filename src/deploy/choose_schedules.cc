#include "deploy/choose_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <unordered_set>

#include "heuristic/default_trace.h"
#include "schedule/apply.h"
#include "target/machine.h"
#include "task/similarity.h"

namespace tilewright::deploy {
namespace {

constexpr size_t kShortId = 12;  // digits: enough to name a task of a store
constexpr size_t kTried = 16;    // records to try, because a trace may no longer apply
// In order of preference: in a model, weights come from memory.
constexpr std::array kCaches = {record::CachePolicy::WeightsCold, record::CachePolicy::Cold,
                                record::CachePolicy::Warm};
constexpr std::array kAsInModel = {record::CachePolicy::InModel, record::CachePolicy::WeightsCold};

// The last moment of some attempts.
int64_t end_of(std::span<const record::Attempt> attempts) {
  int64_t end_us = 0;
  for (const record::Attempt& one : attempts) end_us = std::max(end_us, one.end_us);
  return end_us;
}

class Chooser {
 public:
  Chooser(const Target& target, record::Store* store, std::string_view back_end)
      : target_(target), store_(store), back_end_(back_end) {}

  // Up to `limit` records whose traces apply, or the default schedule.
  Result<std::vector<Choice>> choose(const Workload& workload, size_t limit) {
    std::vector<Choice> choices;
    std::string stale;
    if (store_ != nullptr) {
      const Task task{.workload = workload, .target = target_};
      const std::vector<record::Attempt> best = TRY(best_of(task.key()));
      std::unordered_set<Hash128> programs;
      for (const record::Attempt& attempt : best) {
        if (choices.size() == limit) break;
        if (programs.contains(attempt.program)) continue;
        std::optional<Choice> choice = TRY(recorded(task, attempt));
        if (!choice) continue;
        programs.insert(attempt.program);
        choices.push_back(*std::move(choice));
      }
      if (!best.empty()) stale = "its records no longer apply; ";
    }
    if (!choices.empty()) return choices;
    schedule::Trace trace = TRY(heuristic::default_trace(workload, target_));
    const std::string nearest = TRY(nearest_record(workload));
    choices.push_back(
        {.trace = std::move(trace), .workload = nullptr, .record = {}, .note = stale + nearest});
    return choices;
  }

 private:
  struct Known {
    record::TaskSummary summary;
    WorkloadForm form;
  };

  // The attempts of a task, best first: of this back end, or of the built-in one if it has none.
  Result<std::vector<record::Attempt>> best_of(Hash128 task) {
    std::vector<record::Attempt> best = TRY(best_by(back_end_, task));
    if (!best.empty() || back_end_.empty()) return best;
    return best_by({}, task);
  }

  // Of this machine, or of any machine if it has none.
  Result<std::vector<record::Attempt>> best_by(const std::string& back_end, Hash128 task) {
    for (const record::CachePolicy cache : kCaches) {
      const record::Protocol alone{
          .version = 1, .cache = cache, .interleaved = false, .back_end = back_end};
      for (const std::optional<Hash128>& machine :
           {std::optional(here_), std::optional<Hash128>()}) {
        Result<std::vector<record::Attempt>> best = best_on(machine, task, alone);
        if (!best || !best->empty()) return best;
      }
    }
    return std::vector<record::Attempt>{};
  }

  // The participants of the last finals, fastest first, as in the table of `tune`. Before them,
  // only schedules that did not take part, were found since, and took less time alone than the
  // winner did. After them, the participants of earlier finals, and the fastest alone.
  Result<std::vector<record::Attempt>> best_on(std::optional<Hash128> machine, Hash128 task,
                                               const record::Protocol& alone) {
    record::Protocol interleaved_protocol = alone;
    interleaved_protocol.interleaved = true;
    std::vector<record::Attempt> finals =
        TRY(alone.cache == record::CachePolicy::WeightsCold
                ? last_finals(*store_, task, machine, alone.back_end)
                : store_->last_finals(task, interleaved_protocol, machine));
    if (finals.empty()) return timed(task, alone, machine);

    const record::Attempt& winner = finals.front();
    std::vector<record::Attempt> apart = TRY(timed(task, alone, winner.machine));
    std::vector<record::Attempt> before =
        TRY(store_->last_finals(task, interleaved_protocol, winner.machine));
    const std::optional<double> own =
        TRY(store_->fastest_ns(task, winner.program, alone, winner.machine));
    const double to_beat_ns = own.value_or(winner.verdict.latency_ns);
    const int64_t end_us = end_of(finals);
    const auto is_later = [&](const record::Attempt& one) {
      return one.end_us > end_us && one.verdict.latency_ns < to_beat_ns &&
             std::ranges::count(finals, one.program, &record::Attempt::program) == 0;
    };
    std::vector<record::Attempt> all;
    std::ranges::copy_if(apart, std::back_inserter(all), is_later);
    for (auto* const some : {&finals, &before, &apart}) {
      std::ranges::move(*some, std::back_inserter(all));
    }
    return all;
  }

  // The fastest of that protocol only.
  Result<std::vector<record::Attempt>> timed(Hash128 task, const record::Protocol& protocol,
                                             std::optional<Hash128> machine) {
    Result<std::vector<record::Attempt>> best = store_->best(task, protocol, kTried, machine);
    if (!best) return best;
    std::erase_if(*best, [&](const record::Attempt& one) { return one.protocol != protocol; });
    return best;
  }

  // Empty if the trace does not apply. It refers to names of the workload that it was made for,
  // which has the same content but possibly other names.
  Result<std::optional<Choice>> recorded(const Task& task, const record::Attempt& attempt) {
    Result<schedule::Trace> trace = schedule::trace_from_text(attempt.trace);
    if (!trace) return std::nullopt;
    Choice choice{.trace = std::move(*trace), .workload = nullptr, .record = attempt, .note = {}};
    if (!applies(task.workload, choice.trace)) {
      const std::optional<record::StoredTask> stored = TRY(store_->find_task(task.key()));
      if (!stored) return std::nullopt;
      Result<Task> named = record::task_of(*stored);
      if (!named || !applies(named->workload, choice.trace)) return std::nullopt;
      choice.workload = std::make_shared<const Workload>(std::move(named->workload));
    }
    if (std::ranges::count(kAsInModel, attempt.protocol.cache) == 0) {
      choice.note = fmt::format("tuned by protocol {}, not as in a model (weights_cold)",
                                print_protocol(attempt.protocol));
    } else if (attempt.protocol.back_end != back_end_) {
      choice.note = fmt::format("not tuned with the back end {}", back_end_);
    }
    return choice;
  }

  static bool applies(const Workload& workload, const schedule::Trace& trace) {
    const Result<schedule::LoopTree> initial = schedule::initial_tree(workload);
    schedule::LoopTree tree;
    return initial && !schedule::apply(*initial, trace, &tree);
  }

  Result<std::string> nearest_record(const Workload& workload) {
    if (store_ == nullptr) return std::string("no store of records");
    if (!read_) {
      TRY(read_known());
    }
    const WorkloadForm form = form_of(*workload.dag);
    const Hash128 self = Task{.workload = workload, .target = target_}.key();
    const Known* nearest = nullptr;
    double min_distance = std::numeric_limits<double>::infinity();
    for (const Known& known : known_) {
      if (known.summary.task.key == self) continue;
      const double distance = extent_distance(form, known.form);
      if (distance >= min_distance) continue;
      min_distance = distance;
      nearest = &known;
    }
    if (nearest == nullptr) {
      return std::string("no record of this kernel or of a similar one");
    }
    const record::StoredTask& task = nearest->summary.task;
    const bool readable = !task.text.starts_with("dag:");
    return fmt::format("no record of this kernel; nearest is {} ({:.1f} us)",
                       readable ? task.text : "task " + task.key.hex().substr(0, kShortId),
                       nearest->summary.best_ns * 1e-3);
  }

  // Tasks of the same target that have a time of this back end or of the built-in one.
  Status read_known() {
    read_ = true;
    std::vector<record::TaskSummary> all = TRY(store_->summaries());
    const std::string target = print_target(target_);
    for (record::TaskSummary& summary : all) {
      if (summary.best_ns == 0 || summary.task.target != target) continue;
      const std::string& by = summary.best_protocol.back_end;
      if (!by.empty() && by != back_end_) continue;
      const Result<Task> task = record::task_of(summary.task);
      if (!task) continue;  // an operator that this version does not have
      known_.push_back({.summary = std::move(summary), .form = form_of(*task->workload.dag)});
    }
    return {};
  }

  Target target_;
  record::Store* store_;
  std::string back_end_;
  Hash128 here_ = record::machine_id(detect_machine());
  bool read_ = false;
  std::vector<Known> known_;
};

}  // namespace

Result<std::vector<record::Attempt>> last_finals(record::Store& store, Hash128 task,
                                                 std::optional<Hash128> machine,
                                                 std::string_view back_end) {
  std::vector<record::Attempt> last;
  for (const record::CachePolicy cache : kAsInModel) {
    std::vector<record::Attempt> finals = TRY(store.last_finals(
        task,
        {.version = 1, .cache = cache, .interleaved = true, .back_end = std::string(back_end)},
        machine));
    if (end_of(finals) > end_of(last)) last = std::move(finals);
  }
  return last;
}

Result<std::vector<std::vector<Choice>>> choose_finalists(const ModelPlan& plan,
                                                          const Target& target,
                                                          record::Store* store, size_t limit,
                                                          std::string_view back_end) {
  Chooser chooser(target, store, back_end);
  std::vector<std::vector<Choice>> finalists;
  finalists.reserve(plan.partition.kernels.size());
  for (const graph::Partition::Kernel& kernel : plan.partition.kernels) {
    const graph::Group& group = plan.partition.groups[kernel.groups.front()];
    Result<std::vector<Choice>> choices = chooser.choose(group.workload, limit);
    if (!choices) {
      return fail(choices.error().kind,
                  fmt::format("kernel '{}': {}", group.title, choices.error().message));
    }
    finalists.push_back(std::move(*choices));
  }
  return finalists;
}

Result<std::vector<Choice>> choose_schedules(const ModelPlan& plan, const Target& target,
                                             record::Store* store, std::string_view back_end) {
  std::vector<std::vector<Choice>> finalists =
      TRY(choose_finalists(plan, target, store, 1, back_end));
  std::vector<Choice> choices;
  choices.reserve(finalists.size());
  for (std::vector<Choice>& of_kernel : finalists) {
    choices.push_back(std::move(of_kernel.front()));
  }
  return choices;
}

}  // namespace tilewright::deploy
