#include "app/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "app/allowed.h"
#include "app/model_choice.h"
#include "app/traces_file.h"
#include "app/workers.h"
#include "base/clock.h"
#include "heuristic/default_trace.h"
#include "space/random_trace.h"

namespace tilewright::app {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

Result<std::vector<schedule::Trace>> candidates_of(const MeasureOptions& options, const Task& task,
                                                   MeasureListener& listener) {
  if (!options.traces.empty()) return read_traces_file(options.traces);
  Rng rng(options.seed);
  std::vector<schedule::Trace> traces = space::random_traces(task, options.random, rng);
  if (traces.empty()) {
    return fail(ErrorKind::Unsupported, "no legal schedule of it could be drawn");
  }
  if (traces.size() < options.random) listener.on_few_schedules(traces.size(), options.random);
  return traces;
}

Status hold_finals(const MeasureOptions& options, measure::Session& session,
                   MeasureListener& listener, MeasureOutcome* outcome) {
  if (options.finalists == 0) return {};
  if (outcome->tally.count(record::VerdictKind::Timed) == 0) return {};
  listener.on_finals();
  std::vector<measure::Answer> finals = TRY(session.finals(options.finalists));
  const auto standard = TRY(heuristic::default_program(session.measurer().task()));
  outcome->finals = compare_finals(std::move(finals), standard.program);
  return {};
}

}  // namespace

void MeasureTally::add(const measure::Answer& answer) {
  const record::Verdict& verdict = answer.attempt.verdict;
  (answer.stored ? stored : measured) += 1;
  const auto kind = static_cast<size_t>(verdict.kind);
  if (by_kind[kind]++ == 0 && is_failure(verdict.kind)) {
    example[kind] = fmt::format("candidate {}: {}", answer.candidate, verdict.text);
  }
  if (verdict.kind != record::VerdictKind::Timed) return;
  if (best_ns > 0 && verdict.latency_ns >= best_ns) return;
  best_ns = verdict.latency_ns;
  best_id = answer.attempt_id;
}

double MeasureTally::trials_per_s(double elapsed_s) const {
  return elapsed_s > 0 ? static_cast<double>(measured) / elapsed_s : 0;
}

double MeasureTally::left_s(double elapsed_s) const {
  const double rate = trials_per_s(elapsed_s);
  return rate > 0 && answered() < total ? static_cast<double>(total - answered()) / rate : 0;
}

std::vector<MeasureFinal> compare_finals(std::vector<measure::Answer> answers,
                                         const Hash128& default_program) {
  std::vector<MeasureFinal> finals;
  double default_ns = 0;
  for (measure::Answer& answer : answers) {
    const bool is_default = answer.attempt.program == default_program;
    finals.push_back({.answer = std::move(answer), .is_default = is_default});
    if (!is_default || !finals.back().is_timed()) continue;
    default_ns = finals.back().answer.attempt.verdict.latency_ns;
  }
  for (MeasureFinal& one : finals) {
    if (one.is_timed()) one.against_default = default_ns / one.answer.attempt.verdict.latency_ns;
  }
  return finals;
}

double MeasureOutcome::default_ns() const {
  for (const MeasureFinal& one : finals) {
    if (one.is_default && one.is_timed()) return one.answer.attempt.verdict.latency_ns;
  }
  return 0;
}

Result<MeasureOutcome> measure(const MeasureOptions& options, MeasureListener& listener,
                               const StopToken& stop) {
  if (options.traces.empty() == (options.random == 0)) {
    return fail(ErrorKind::BadInput,
                "name the schedules to measure: a file of traces, or a number of random ones",
                {{"traces", "FILE"}, {"random", "N"}});
  }
  TRY(check_store_path(options.records));  // before any long work
  MeasureOutcome outcome;
  outcome.task.workload =
      TRY(operator_named(options.what, TRY(operator_permissions(options.allow))));
  outcome.task.target = TRY(measured_target_of(options.target, options.tables));
  outcome.target = print_target(outcome.task.target);
  outcome.flop = outcome.task.workload.dag->flop();
  measure::SessionOptions with;
  with.measure.protocol.cache = TRY(record::parse_own_cache_policy(options.cache));
  with.measure.protocol.back_end =
      codegen::recorded_name(outcome.task.target, options.tables.back_ends);
  const auto candidates = TRY(candidates_of(options, outcome.task, listener));
  TRY(check_workers(options.workers));
  record::Store store = TRY(open_store(options.records, record::OpenAs::Create));
  with.command = !options.command.empty() ? options.command : "measure " + options.what;
  with.version = TILEWRIGHT_VERSION;
  if (options.force) with.recall = record::Recall::None;
  with.measure.workers = options.workers;
  with.measure.loaders = options.tables.loaders;
  with.measure.seed = options.seed;
  double end_s = options.seconds > 0 ? seconds_now() + options.seconds : kNoEnd;
  with.measure.stop = [&] { return stop.requested() || seconds_now() >= end_s; };
  Result<measure::Session> started = measure::Session::start(outcome.task, store, with);
  outcome.stopped = stop.requested();
  if (!started && (stop.requested() || seconds_now() >= end_s)) return outcome;
  measure::Session session = TRY(std::move(started));

  outcome.begun = true;
  listener.on_start(outcome.flop);
  const double begin_s = seconds_now();
  outcome.tally.total = candidates.size();
  outcome.status = session.measure(candidates, [&](const measure::Answer& answer) {
    outcome.tally.add(answer);
    listener.on_answer(outcome.tally, answer, seconds_now() - begin_s);
  });
  outcome.seconds = seconds_now() - begin_s;
  listener.on_measured(outcome.tally, outcome.seconds);
  end_s = kNoEnd;  // the finals are short and always held
  if (outcome.status && !stop.requested()) {
    outcome.status = hold_finals(options, session, listener, &outcome);
  }
  outcome.stopped = stop.requested();
  return outcome;
}

}  // namespace tilewright::app
