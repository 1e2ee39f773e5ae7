#include "tune/stored_trials.h"

#include <algorithm>
#include <tuple>

#include "codegen/version.h"
#include "schedule/trace.h"
#include "target/machine.h"

namespace tilewright::tune {
namespace {

Trial trial_of(const measure::Answer& answer) {
  const record::Verdict& verdict = answer.attempt.verdict;
  return {.kind = verdict.kind,
          .latency_ns = verdict.latency_ns,
          .stored = answer.stored,
          .attempt = answer.attempt_id,
          .text = verdict.text};
}

Trial stored_trial(const record::Attempt& attempt) {
  return {.kind = attempt.verdict.kind,
          .latency_ns = attempt.verdict.latency_ns,
          .stored = true,
          .attempt = attempt.id(),
          .text = attempt.verdict.text};
}

void sort_finals(std::vector<StoredTrials::Final>& finals) {
  std::ranges::sort(finals, {}, [](const StoredTrials::Final& one) {
    return std::tuple(one.trial.kind, one.trial.latency_ns, one.proposal.program);
  });
}

}  // namespace

record::Setting setting_of(const Task& task, const measure::MeasureOptions& options) {
  return {.task = task.key(),
          .machine = record::machine_id(detect_machine()),
          .protocol = options.protocol,
          .code_generator = codegen::kCodeGeneratorVersion};
}

Result<StoredTrials> StoredTrials::open(const Task& task, SessionPool& pool,
                                        const Trajectory& trajectory) {
  StoredTrials trials(task, pool);
  trials.setting_ = setting_of(task, pool.options().measure);
  if (const Status put = pool.store().put_task(task); !put) return std::unexpected(put.error());
  if (pool.options().force && trajectory.is_new()) return trials;
  Result<KnownTrials> known = load_known(pool.store(), trials.setting_, trajectory);
  if (!known) return std::unexpected(known.error());
  trials.known_ = std::move(*known);
  return trials;
}

Status StoredTrials::run(std::span<const Proposal> proposals, const Report& report) {
  std::vector<size_t> fresh;
  std::vector<schedule::Trace> traces;
  for (size_t k = 0; k < proposals.size(); ++k) {
    const auto found = known_.trials.find(proposals[k].program);
    if (found != known_.trials.end()) {
      report(k, found->second.trial.trial);
      continue;
    }
    fresh.push_back(k);
    traces.push_back(proposals[k].trace);
  }
  if (fresh.empty()) return {};
  const Result<measure::Session*> session = pool_->open(task_);
  if (!session) {
    const auto& stop = pool_->options().measure.stop;
    if (stop && stop()) return {};  // that is why it did not start
    return std::unexpected(session.error());
  }
  return (*session)->measure(traces, [&](const measure::Answer& answer) {
    const size_t k = fresh[answer.candidate];
    const Trial trial = trial_of(answer);
    if (!answer.stored) ++measured_;
    if (trial.kind != record::VerdictKind::Device) {
      Trial later = trial;
      later.stored = true;
      known_.trials.insert_or_assign(
          proposals[k].program,
          KnownTrials::OfProgram{.trial = {.proposal = proposals[k], .trial = std::move(later)},
                                 .end_us = answer.attempt.end_us,
                                 .build_s = answer.attempt.conditions.build_ns * 1e-9,
                                 .check_s = answer.attempt.conditions.check_ns * 1e-9,
                                 .rank = 2});
    }
    report(k, trial);
  });
}

// Several are built at a time.
Contestant StoredTrials::contestant_of(const KnownTrials::OfProgram& one) const {
  const int given = pool_->options().measure.builders;
  const auto builders = given > 0 ? static_cast<double>(given) : pool_->cpus();
  return {.build_s = one.build_s / std::clamp(builders, 1.0, 2.0),
          .check_s = one.check_s,
          .call_s = one.trial.trial.latency_ns * 1e-9};
}

double StoredTrials::shortest_finals_s() const {
  std::vector<Contestant> contestants;
  for (const KnownTrials::OfProgram* one : known_.fastest(2)) {
    contestants.push_back(contestant_of(*one));
  }
  return pool_->opening_s(task_) + seconds_of(shortest_finals(contestants), contestants);
}

// Of one and the same comparison, or nothing.
Result<std::vector<StoredTrials::Final>> StoredTrials::known_finals(
    std::span<const Proposal> finalists) {
  record::Setting setting = setting_;
  setting.protocol.interleaved = true;
  const Result<std::vector<record::Attempt>> stored = pool_->store().measured(setting);
  if (!stored) return std::unexpected(stored.error());
  std::vector<Final> finals;
  const record::Attempt* first = nullptr;
  for (const Proposal& finalist : finalists) {
    const auto found = std::ranges::find(*stored, finalist.program, &record::Attempt::program);
    if (found == stored->end()) return std::vector<Final>();
    if (first == nullptr) first = &*found;
    if (found->run != first->run) return std::vector<Final>();
    finals.push_back({.proposal = finalist, .trial = stored_trial(*found)});
  }
  return finals;
}

Result<std::vector<StoredTrials::Final>> StoredTrials::finals(const Proposal& default_schedule,
                                                              const FinalsPlan& usual,
                                                              double seconds, bool* held) {
  std::vector<Proposal> finalists = {default_schedule};
  std::vector<Contestant> contestants(1);
  for (const KnownTrials::OfProgram* one : known_.fastest(usual.contestants)) {
    const Proposal& proposal = one->trial.proposal;
    if (proposal.program == default_schedule.program) continue;
    finalists.push_back(proposal);
    contestants.push_back(contestant_of(*one));
  }
  const auto tried = known_.trials.find(default_schedule.program);
  if (tried != known_.trials.end()) contestants[0] = contestant_of(tried->second);
  const double left_s = seconds - pool_->opening_s(task_);
  FinalsPlan plan = plan_finals(contestants, usual, left_s);
  if (plan.contestants == 0 && contestants.size() > 2) {  // the default may be slow
    const FinalsPlan others = plan_finals(std::span(contestants).subspan(1), usual, left_s);
    if (others.contestants > 0) {
      plan = others;
      finalists.erase(finalists.begin());
    }
  }
  if (plan.contestants > 0) finalists.resize(plan.contestants);
  Result<std::vector<Final>> finals = known_finals(finalists);
  if (!finals) return finals;
  const bool known = !finals->empty() && !pool_->options().force;
  if (!known && plan.contestants > 0) {
    finals = compare(finalists, plan);
    if (!finals) return finals;
    if (held != nullptr) *held = !finals->empty();
  } else if (!known) {
    finals->clear();
  }
  for (Final& one : *finals) {
    one.is_default = one.proposal.program == default_schedule.program;
  }
  sort_finals(*finals);
  return finals;
}

Result<std::vector<StoredTrials::Final>> StoredTrials::last_finals(
    const Proposal& default_schedule) {
  record::Protocol in_turns = setting_.protocol;
  in_turns.interleaved = true;
  const Result<std::vector<record::Attempt>> last =
      pool_->store().last_finals(setting_.task, in_turns, setting_.machine);
  if (!last) return std::unexpected(last.error());
  std::vector<Final> finals;
  for (const record::Attempt& attempt : *last) {
    Result<schedule::Trace> trace = schedule::trace_from_text(attempt.trace);
    if (!trace) return std::unexpected(trace.error());
    finals.push_back({.proposal = {.trace = std::move(*trace), .program = attempt.program},
                      .trial = stored_trial(attempt),
                      .is_default = attempt.program == default_schedule.program});
  }
  return finals;
}

Result<std::vector<StoredTrials::Final>> StoredTrials::compare(std::span<const Proposal> finalists,
                                                               const FinalsPlan& plan) {
  std::vector<schedule::Trace> traces;
  for (const Proposal& finalist : finalists) traces.push_back(finalist.trace);
  const Result<measure::Session*> session = pool_->open(task_);
  const auto ended = [&] {
    const auto& stop = pool_->options().measure.stop;
    return stop && stop();  // then that is why there is nothing
  };
  std::vector<Final> finals;
  if (!session && ended()) return finals;
  if (!session) return std::unexpected(session.error());
  const Result<std::vector<measure::Answer>> answers =
      (*session)->compare(traces, plan.rounds, plan.round_ms);
  if (!answers && ended()) return finals;
  if (!answers) return std::unexpected(answers.error());
  finals.reserve(answers->size());
  for (size_t k = 0; k < answers->size(); ++k) {
    finals.push_back({.proposal = finalists[k], .trial = trial_of((*answers)[k])});
  }
  return finals;
}

}  // namespace tilewright::tune
