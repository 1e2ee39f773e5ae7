#include "measure/trials.h"

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

using record::VerdictKind;

constexpr double kTurnSeconds = 0.05;     // longest delay of a stop request
constexpr size_t kReportedTogether = 16;  // verdicts, each group one transaction of a store
constexpr int64_t kReportedAfterNs = 200'000'000;
constexpr int kKillsForgiven = 2;

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace

RunRequest request_for(const MeasureOptions& options, double incumbent_ns) {
  const double floor_ns = options.timeout_floor_ms * 1e6;
  return {.protocol = options.protocol,
          .incumbent_ns = incumbent_ns,
          .timeout_ns = std::max(floor_ns, options.timeout_multiple * incumbent_ns),
          .censor_ns = options.censor_multiple * incumbent_ns};
}

bool Trials::any_building(bool only_exclusive) const {
  for (size_t k = 0; k < building_.size(); ++k) {
    if (building_[k] && !(only_exclusive && pool_.overlaps(k))) return true;
  }
  return false;
}

bool Trials::done() const {
  return pending_.empty() && built_.empty() && !running_ && !any_building(false);
}

Status Trials::run(const Measurer::Report& report, const Measurer::Wanted& wanted) {
  building_.resize(pool_.builders());
  for (size_t k = 0; k < pool_.builders(); ++k) overlap_ |= pool_.overlaps(k);
  accounted_ns_ = runtime::now_ns();
  while (!done()) {
    if (options_.stop && options_.stop()) {
      TRY(pool_.abandon());
      break;
    }
    change_turn();
    TRY(start_builds(wanted));
    if (!running_) {
      TRY(report_finished(report, false));
      TRY(start_run(wanted));
    }
    if (done()) break;  // no candidate is wanted any more
    pool_.wait(kTurnSeconds);
    account();
    TRY(collect_builds());
    TRY(collect_runs());
  }
  return report_finished(report, true);
}

void Trials::change_turn() {
  const size_t enough = overlap_ ? 1 : kBuiltAhead;
  const bool no_more = pending_.empty() && !any_building(false);
  if (turn_ == Turn::Building && !built_.empty() && (built_.size() >= enough || no_more)) {
    turn_ = Turn::Running;
  } else if (turn_ == Turn::Running && built_.empty() && !running_ && !pending_.empty()) {
    turn_ = Turn::Building;
  }
}

Status Trials::drop_unwanted(std::deque<PendingTrial>& queue, const Measurer::Wanted& wanted) {
  while (wanted && !queue.empty()) {
    const bool is_wanted = TRY(wanted(queue.front().candidate));
    if (is_wanted) break;
    queue.pop_front();
  }
  return {};
}

Status Trials::start_builds(const Measurer::Wanted& wanted) {
  for (size_t k = 0; k < pool_.builders(); ++k) {
    size_t ahead = built_.size();
    for (const auto& trial : building_) ahead += trial ? 1 : 0;
    if (pending_.empty() || ahead >= kBuiltAhead) break;
    const bool allowed = pool_.overlaps(k) || (turn_ == Turn::Building && !running_);
    if (building_[k] || !allowed) continue;
    TRY(drop_unwanted(pending_, wanted));
    if (pending_.empty()) break;
    building_[k] = std::move(pending_.front());
    pending_.pop_front();
    if (building_[k]->start_us == 0) {
      building_[k]->start_us = time_of_day_us();
      building_[k]->load = load_average();
    }
    pool_.submit_build(k, building_[k]->trace);
  }
  return {};
}

Status Trials::start_run(const Measurer::Wanted& wanted) {
  if (turn_ != Turn::Running || built_.empty() || any_building(true)) return {};
  TRY(drop_unwanted(built_, wanted));
  if (built_.empty()) return {};
  running_ = std::move(built_.front());
  built_.pop_front();
  RunMessage message;
  message.job = RunJob::Measure;
  message.kernels = {running_->kernel};
  message.request = request_for(options_, incumbent_ns_);
  pool_.submit_run(message);
  return {};
}

Status Trials::collect_builds() {
  std::vector<BuildEvent> events = TRY(pool_.built());
  for (BuildEvent& event : events) {
    if (!building_[event.builder]) continue;
    PendingTrial trial = std::move(*building_[event.builder]);
    building_[event.builder].reset();
    shares_.build_cpu_ns += event.reply.cpu_ns;
    trial.build_ns = event.reply.cpu_ns;
    if (event.killed_externally && trial.kills++ < kKillsForgiven) {
      pending_.push_front(std::move(trial));
    } else if (event.reply.failure != VerdictKind::Timed) {
      finish_failed(trial, event.reply.failure, std::move(event.reply.text));
    } else {
      trial.kernel = std::move(event.reply.kernel);
      built_.push_back(std::move(trial));
    }
  }
  return {};
}

Status Trials::collect_runs() {
  std::vector<RunEvent> events = TRY(pool_.ran());
  for (RunEvent& event : events) {
    if (!running_) continue;
    PendingTrial trial = std::move(*running_);
    running_.reset();
    if (event.killed_externally && trial.kills++ < kKillsForgiven) {
      built_.push_front(std::move(trial));
      continue;
    }
    if (!event.reply.error.empty() || event.reply.outcomes.size() != 1) {
      finish_failed(trial, VerdictKind::Device, std::move(event.reply.error));
      continue;
    }
    RunOutcome& outcome = event.reply.outcomes.front();
    outcome.conditions.build_ns = trial.build_ns;
    outcome.conditions.load = trial.load;
    shares_.check_ns += outcome.conditions.check_ns;
    shares_.time_ns += outcome.conditions.time_ns;
    shares_.kernel_ns += outcome.kernel_ns;
    const record::Verdict& verdict = outcome.verdict;
    if (verdict.kind == VerdictKind::Timed &&
        (incumbent_ns_ == 0 || verdict.latency_ns < incumbent_ns_)) {
      incumbent_ns_ = verdict.latency_ns;
    }
    finish({.candidate = trial.candidate,
            .program = trial.program,
            .verdict = std::move(outcome.verdict),
            .conditions = outcome.conditions,
            .kernel_ns = outcome.kernel_ns,
            .start_us = trial.start_us,
            .end_us = time_of_day_us()});
  }
  return {};
}

void Trials::finish_failed(const PendingTrial& trial, VerdictKind kind, std::string text) {
  record::Conditions conditions;
  conditions.build_ns = trial.build_ns;
  conditions.load = trial.load;
  finish({.candidate = trial.candidate,
          .program = trial.program,
          .verdict = {.kind = kind, .latency_ns = 0, .samples_ns = {}, .text = std::move(text)},
          .conditions = conditions,
          .kernel_ns = 0,
          .start_us = trial.start_us,
          .end_us = time_of_day_us()});
}

void Trials::finish(Measurement measurement) {
  if (finished_.empty()) oldest_ns_ = runtime::now_ns();
  ++shares_.trials;
  shares_.timed += measurement.verdict.kind == VerdictKind::Timed ? 1 : 0;
  shares_.censored += measurement.verdict.kind == VerdictKind::Censored ? 1 : 0;
  finished_.push_back(std::move(measurement));
}

Status Trials::report_finished(const Measurer::Report& report, bool all) {
  const bool due = finished_.size() >= kReportedTogether ||
                   runtime::now_ns() - oldest_ns_ >= kReportedAfterNs ||
                   (turn_ == Turn::Building && !overlap_);
  if (finished_.empty() || (!due && !all)) return {};
  const std::vector<Measurement> group = std::exchange(finished_, {});
  return report(group);
}

void Trials::account() {
  const int64_t now = runtime::now_ns();
  const auto passed = static_cast<double>(now - std::exchange(accounted_ns_, now));
  shares_.wall_ns += passed;
  if (running_) return;  // the runner reports its own activity
  if (any_building(false)) {
    shares_.build_ns += passed;
  } else {
    shares_.idle_ns += passed;
  }
}

}  // namespace tilewright::measure
