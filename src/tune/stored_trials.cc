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

Trial trial_of(const record::KnownVerdict& verdict) {
  return {.kind = verdict.kind,
          .latency_ns = verdict.latency_ns,
          .stored = true,
          .attempt = verdict.attempt,
          .text = verdict.text};
}

Result<StoredTrials> StoredTrials::open(const Task& task, SessionPool& pool,
                                        const Trajectory& trajectory) {
  TRY(pool.store().put_task(task));
  return StoredTrials(
      task, pool,
      TRY(record::KnownVerdicts::load(pool.store(), setting_of(task, pool.options().measure),
                                      trajectory.viewpoint(), pool.options().recall)));
}

std::vector<PastTrial> StoredTrials::before() const {
  std::vector<PastTrial> past;
  for (const record::KnownVerdict* one : known_.before()) {
    Result<schedule::Trace> trace = schedule::trace_from_text(one->trace);
    if (!trace) continue;
    past.push_back({.proposal = {.trace = std::move(*trace), .program = one->program},
                    .trial = trial_of(*one)});
  }
  return past;
}

Status StoredTrials::run(std::span<const Proposal> proposals, const Report& report) {
  std::vector<size_t> fresh;
  std::vector<Proposal> unknown;
  TRY(known_.refresh());
  for (size_t k = 0; k < proposals.size(); ++k) {
    const record::KnownVerdict* const found = measure::known_verdict(known_, proposals[k]);
    if (found != nullptr) {
      report(k, trial_of(*found));
      continue;
    }
    fresh.push_back(k);
    unknown.push_back(proposals[k]);
  }
  if (fresh.empty()) return {};
  Result<measure::Session*> opened = pool_->open(task_, known_);
  const auto& stop = pool_->options().measure.stop;
  if (!opened && stop && stop()) return {};  // the reason why it did not start
  measure::Session& session = *TRY(std::move(opened));
  return session.measure(unknown, [&](const measure::Answer& answer) {
    if (!answer.stored) ++measured_;
    report(fresh[answer.candidate], trial_of(answer));
  });
}

// Several are built concurrently.
Contestant StoredTrials::contestant_of(const record::KnownVerdict& one) const {
  const int given = pool_->options().measure.builders;
  const auto builders = given > 0 ? static_cast<double>(given) : pool_->cpus();
  return {.build_s = one.build_ns * 1e-9 / std::clamp(builders, 1.0, 2.0),
          .check_s = one.check_ns * 1e-9,
          .call_s = one.latency_ns * 1e-9};
}

double StoredTrials::shortest_finals_s() const {
  std::vector<Contestant> contestants;
  for (const record::KnownVerdict* one : known_.fastest(2)) {
    contestants.push_back(contestant_of(*one));
  }
  return pool_->opening_s(task_) + seconds_of(shortest_finals(contestants), contestants);
}

// All results are from the same comparison, or there are none.
Result<std::vector<StoredTrials::Final>> StoredTrials::known_finals(
    std::span<const Proposal> finalists) {
  record::Setting setting = known_.setting();
  setting.protocol.interleaved = true;
  const std::vector<record::Attempt> stored = TRY(pool_->store().measured(setting));
  std::vector<Final> finals;
  const record::Attempt* first = nullptr;
  for (const Proposal& finalist : finalists) {
    const auto found = std::ranges::find(stored, finalist.program, &record::Attempt::program);
    if (found == stored.end()) return std::vector<Final>();
    if (first == nullptr) first = &*found;
    if (found->run != first->run) return std::vector<Final>();
    finals.push_back({.proposal = finalist, .trial = stored_trial(*found)});
  }
  return finals;
}

Result<std::vector<StoredTrials::Final>> StoredTrials::finals(const Proposal& default_schedule,
                                                              const FinalsPlan& usual,
                                                              double seconds, bool* held) {
  std::vector<Proposal> finalists =
      TRY(measure::finalists_of(known_, default_schedule, usual.contestants));
  std::vector<Contestant> contestants;
  for (const Proposal& one : finalists) {  // the default schedule may not have a verdict
    const record::KnownVerdict* const known = measure::known_verdict(known_, one);
    contestants.push_back(known != nullptr ? contestant_of(*known) : Contestant());
  }
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
  const bool known = !finals->empty() && known_.recall() == record::Recall::All;
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
  record::Protocol interleaved_protocol = setting().protocol;
  interleaved_protocol.interleaved = true;
  std::vector<Final> finals;
  for (const record::Attempt& attempt :
       TRY(pool_->store().last_finals(setting().task, interleaved_protocol, setting().machine))) {
    schedule::Trace trace = TRY(schedule::trace_from_text(attempt.trace));
    finals.push_back({.proposal = {.trace = std::move(trace), .program = attempt.program},
                      .trial = stored_trial(attempt),
                      .is_default = attempt.program == default_schedule.program});
  }
  return finals;
}

Result<std::vector<StoredTrials::Final>> StoredTrials::compare(std::span<const Proposal> finalists,
                                                               const FinalsPlan& plan) {
  Result<measure::Session*> opened = pool_->open(task_, known_);
  const auto ended = [&] {
    const auto& stop = pool_->options().measure.stop;
    return stop && stop();  // the reason why there is no result
  };
  std::vector<Final> finals;
  if (!opened && ended()) return finals;
  measure::Session& session = *TRY(std::move(opened));
  Result<std::vector<measure::Answer>> compared =
      session.compare(finalists, plan.rounds, plan.round_ms);
  if (!compared && ended()) return finals;
  const std::vector<measure::Answer> answers = TRY(std::move(compared));
  finals.reserve(answers.size());
  for (size_t k = 0; k < answers.size(); ++k) {
    finals.push_back({.proposal = finalists[k], .trial = trial_of(answers[k])});
  }
  return finals;
}

}  // namespace tilewright::tune
