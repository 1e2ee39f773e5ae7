#include "tune/donors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "schedule/rename_ops.h"
#include "target/target.h"

namespace tilewright::tune {
namespace {

struct Timed {
  double latency_ns = 0;
  Hash128 program;
  std::string trace{};
};

// Keeps the fastest ones with distinct programs.
void keep(std::vector<Timed>* fastest, const record::Attempt& attempt) {
  const auto order = [](const Timed& one) { return std::pair(one.latency_ns, one.program); };
  const Timed timed{.latency_ns = attempt.verdict.latency_ns, .program = attempt.program};
  const bool is_full = fastest->size() == Donors::kPerTask;
  if (is_full && order(fastest->back()) <= order(timed)) return;
  const auto same = std::ranges::find(*fastest, timed.program, &Timed::program);
  if (same != fastest->end() && same->latency_ns <= timed.latency_ns) return;
  if (same != fastest->end()) {
    fastest->erase(same);
  } else if (is_full) {
    fastest->pop_back();
  }
  const auto at = std::ranges::lower_bound(*fastest, order(timed), {}, order);
  fastest->insert(at, {timed.latency_ns, timed.program, attempt.trace});
}

// Latencies of one setting are comparable. The settings of a task by preference: of this machine,
// of this protocol, of the newest code generator.
using SettingOrder = std::tuple<bool, bool, int64_t, Hash128, std::string>;

SettingOrder order_of(const record::Attempt& attempt, const record::Setting& wanted) {
  return {attempt.machine != wanted.machine, attempt.protocol != wanted.protocol,
          -attempt.code_generator, attempt.machine, print_protocol(attempt.protocol)};
}

// A task whose schedules may serve another one.
struct Nearness {
  bool same_structure = false;
  double distance = 0;  // of the extents of the cores, if there are any

  static constexpr double kOtherStructure = 1;  // counts as a doubling of one extent
  bool is_equal() const { return same_structure && distance == 0; }
  double rank() const { return distance + (same_structure ? 0 : kOtherStructure); }
};

std::optional<Nearness> nearness_of(const WorkloadForm& task, const WorkloadForm& donor) {
  const double all = extent_distance(task, donor), core = core_distance(task, donor);
  const Nearness nearness{.same_structure = !std::isinf(all),
                          .distance = std::isinf(core) ? all : core};
  return std::isinf(nearness.distance) ? std::nullopt : std::optional(nearness);
}

// Without the number of threads, which schedules seldom depend on.
std::string instructions_of(const Target& target) { return print_target(target.with_threads(1)); }

struct Donor {
  Nearness nearness;
  bool is_elsewhere = false;  // measured on another machine, or for another number of threads
  Hash128 key;
  bool is_stored = false;  // of the store; the run may have the same task
  const te::Dag* dag = nullptr;
  std::vector<const schedule::Trace*> fastest{};
};

std::vector<Donation> in_order(const te::Dag& dag, std::vector<Donor> donors) {
  std::ranges::sort(donors, {}, [](const Donor& one) {
    return std::tuple(!one.nearness.is_equal(), one.is_elsewhere, one.nearness.rank(), one.key,
                      one.is_stored);
  });
  std::vector<Donation> donations;
  for (size_t rank = 0; rank < Donors::kPerTask; ++rank) {
    for (const Donor& donor : donors) {
      if (rank >= donor.fastest.size() || donations.size() == Donors::kMaxDonations) continue;
      donations.push_back(
          {.trace = schedule::rename_ops(*donor.fastest[rank], matching_ops(*donor.dag, dag)),
           .same_extents = donor.nearness.distance == 0});
    }
  }
  return donations;
}

}  // namespace

Status Donors::list_tasks() {
  if (listed_ || store_ == nullptr) return {};
  for (record::StoredTask& stored : TRY(store_->tasks())) {
    const Result<Task> task = record::task_of(stored);
    if (!task) continue;  // from another version, or created from C++
    known_.push_back({.key = stored.key,
                      .target = task->target,
                      .dag = task->workload.dag,
                      .form = form_of(*task->workload.dag)});
  }
  listed_ = true;
  return {};
}

Status Donors::read(Known* known) {
  if (known->is_read) return {};
  std::map<SettingOrder, std::vector<Timed>> by_setting;
  TRY(store_->for_each_attempt(known->key, [&](const record::Attempt& attempt) {
    const bool is_timed = attempt.verdict.kind == record::VerdictKind::Timed;
    if (!is_timed || attempt.end_us >= before_us_ || attempt.protocol.interleaved) return true;
    keep(&by_setting[order_of(attempt, setting_)], attempt);
    return true;
  }));
  known->is_read = true;
  if (by_setting.empty()) return {};
  known->is_here = !std::get<0>(by_setting.begin()->first);
  // A setting with few verdicts, as after a change of the code generator, does not hide the others.
  std::vector<Hash128> programs;
  for (const auto& [order, fastest] : by_setting) {
    for (const Timed& one : fastest) {
      if (known->fastest.size() == kPerTask) return {};
      if (std::ranges::count(programs, one.program) > 0) continue;
      Result<schedule::Trace> trace = schedule::trace_from_text(one.trace);
      if (!trace) continue;
      programs.push_back(one.program);
      known->fastest.push_back(std::move(*trace));
    }
  }
  return {};
}

Result<std::vector<Donation>> Donors::donations_for(const Task& task,
                                                    std::span<const Sibling> siblings) {
  const WorkloadForm form = form_of(*task.workload.dag);
  std::vector<Donor> donors;
  for (const Sibling& sibling : siblings) {
    if (sibling.task->target != task.target) continue;
    const auto nearness = nearness_of(form, form_of(*sibling.task->workload.dag));
    if (!nearness) continue;
    Donor& donor = donors.emplace_back();
    donor = {
        .nearness = *nearness, .key = sibling.task->key(), .dag = sibling.task->workload.dag.get()};
    for (const Best& best : sibling.fastest) donor.fastest.push_back(&best.proposal.trace);
  }
  TRY(list_tasks());
  const std::string instructions = instructions_of(task.target);
  std::vector<std::pair<Nearness, Known*>> similar;
  for (Known& known : known_) {
    if (instructions_of(known.target) != instructions) continue;
    if (const auto nearness = nearness_of(form, known.form)) {
      similar.emplace_back(*nearness, &known);
    }
  }
  std::ranges::sort(similar, {}, [&](const auto& one) {
    const auto& [nearness, known] = one;
    return std::tuple(!nearness.is_equal(), known->target != task.target, nearness.rank(),
                      known->key);
  });
  size_t stored = 0;
  for (const auto& [nearness, known] : similar) {
    if (stored == kMaxStored) break;
    TRY(read(known));
    // A task that this trajectory added to the store has no records from before it. A replay finds
    // it there, and must read the same donors.
    if (known->fastest.empty()) continue;
    ++stored;
    Donor& donor = donors.emplace_back();
    donor = {.nearness = nearness,
             .is_elsewhere = !known->is_here || known->target != task.target,
             .key = known->key,
             .is_stored = true,
             .dag = known->dag.get()};
    for (const schedule::Trace& trace : known->fastest) donor.fastest.push_back(&trace);
  }
  return in_order(*task.workload.dag, std::move(donors));
}

}  // namespace tilewright::tune
