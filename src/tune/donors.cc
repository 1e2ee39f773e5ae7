#include "tune/donors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

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

struct Donor {
  bool is_elsewhere = false;
  double distance = 0;
  Hash128 key;
  std::vector<const schedule::Trace*> fastest{};
};

std::vector<Donation> in_order(std::vector<Donor> donors) {
  std::ranges::stable_sort(donors, {}, [](const Donor& one) {
    return std::tuple(one.distance > 0, one.is_elsewhere, one.distance, one.key);
  });
  std::vector<Donation> donations;
  for (size_t rank = 0; rank < Donors::kPerTask; ++rank) {
    for (const Donor& donor : donors) {
      if (rank >= donor.fastest.size() || donations.size() == Donors::kMaxDonations) continue;
      donations.push_back({.trace = *donor.fastest[rank], .same_extents = donor.distance == 0});
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
                      .target = std::move(stored.target),
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

// Of the same structure and target, nearest first.
std::vector<std::pair<double, Donors::Known*>> Donors::nearest(const Task& task,
                                                               const WorkloadForm& form) {
  const std::string target = print_target(task.target);
  std::vector<std::pair<double, Known*>> similar;
  for (Known& known : known_) {
    if (known.target != target) continue;
    const double far = extent_distance(form, known.form);
    if (!std::isinf(far)) similar.emplace_back(far, &known);
  }
  std::ranges::sort(similar, {},
                    [](const auto& one) { return std::pair(one.first, one.second->key); });
  return similar;
}

Result<std::vector<Donation>> Donors::donations_for(const Task& task,
                                                    std::span<const Sibling> siblings) {
  const WorkloadForm form = form_of(*task.workload.dag);
  std::vector<Donor> donors;
  for (const Sibling& sibling : siblings) {
    if (sibling.task->target != task.target) continue;
    const double far = extent_distance(form, form_of(*sibling.task->workload.dag));
    if (std::isinf(far)) continue;
    Donor& donor = donors.emplace_back();
    donor = {.distance = far, .key = sibling.task->key()};
    for (const Best& best : sibling.fastest) donor.fastest.push_back(&best.proposal.trace);
  }
  TRY(list_tasks());
  size_t stored = 0;
  for (const auto& [far, known] : nearest(task, form)) {
    if (stored == kMaxStored) break;
    TRY(read(known));
    // A task that this trajectory added to the store has no records from before it. A replay finds
    // it there, and must read the same donors.
    if (known->fastest.empty()) continue;
    ++stored;
    Donor& donor = donors.emplace_back();
    donor = {.is_elsewhere = !known->is_here, .distance = far, .key = known->key};
    for (const schedule::Trace& trace : known->fastest) donor.fastest.push_back(&trace);
  }
  return in_order(std::move(donors));
}

}  // namespace tilewright::tune
