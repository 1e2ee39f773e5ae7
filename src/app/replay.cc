#include "app/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/workers.h"
#include "codegen/version.h"

namespace tilewright::app {
namespace {

using record::Verdict;
using record::VerdictKind;

constexpr int kTries = 3;
constexpr int kRounds = 5;
constexpr double kRoundMs = 100;
constexpr double kNever = 1e9;  // a multiple that no incumbent reaches

Result<Task> task_of_attempt(record::Store& store, const record::Attempt& attempt,
                             const deploy::BackEndTables& tables) {
  const std::optional<record::StoredTask> stored = TRY(store.find_task(attempt.task));
  if (!stored) {
    return fail(ErrorKind::BadInput,
                fmt::format("the store does not have its task {}", attempt.task.hex()));
  }
  Task task = TRY(record::task_of(*stored));
  if (const Status runs = deploy::check_executable(task.target, tables); !runs) {
    return fail(ErrorKind::Unsupported,
                fmt::format("it was made for {}: {}", stored->target, runs.error().message));
  }
  return task;
}

// Why the two times are not strictly comparable.
std::vector<std::string> differences(const record::Attempt& attempt, std::string_view back_end) {
  std::vector<std::string> out;
  if (attempt.machine != record::machine_id(detect_machine())) {
    out.emplace_back("it was measured on another machine");
  }
  if (attempt.code_generator != codegen::kCodeGeneratorVersion) {
    out.push_back(fmt::format("it was compiled by code generator {}, this is {}",
                              attempt.code_generator, codegen::kCodeGeneratorVersion));
  }
  if (attempt.protocol.back_end != back_end) {
    const auto name = [](std::string_view one) { return one.empty() ? "built-in" : one; };
    out.push_back(fmt::format("it was compiled by the back end {}, this is {}",
                              name(attempt.protocol.back_end), name(back_end)));
  }
  if (attempt.protocol.cache == record::CachePolicy::InModel) {
    out.emplace_back("it was timed inside a model, and now alone");
  }
  return out;
}

measure::SessionOptions session_options(const record::Attempt& attempt, std::string_view back_end,
                                        const ReplayOptions& options, const StopToken& stop) {
  measure::SessionOptions out;
  out.command = "replay " + attempt.id().hex();
  out.version = TILEWRIGHT_VERSION;
  out.recall = record::Recall::None;
  out.measure.workers = options.workers;
  out.measure.loaders = options.tables.loaders;
  out.measure.protocol = attempt.protocol;
  out.measure.protocol.back_end = back_end;
  out.measure.protocol.interleaved = false;  // for finals only, where compare handles it
  if (attempt.protocol.cache == record::CachePolicy::InModel) {
    out.measure.protocol.cache = record::CachePolicy::WeightsCold;  // the nearest available policy
  }
  out.measure.censor_multiple = kNever;
  out.measure.timeout_floor_ms =
      std::max(out.measure.timeout_floor_ms, 20 * attempt.verdict.latency_ns * 1e-6);
  out.measure.stop = [stop] { return stop.requested(); };
  return out;
}

// Alone, or interleaved with the default schedule if it was measured that way.
Result<measure::Answer> measure_again(measure::Session& session, const record::Attempt& attempt,
                                      const schedule::Trace& trace) {
  const bool is_interleaved =
      attempt.protocol.interleaved && attempt.verdict.kind == record::VerdictKind::Timed;
  if (is_interleaved) {
    const schedule::Trace both[] = {trace, session.measurer().default_trace()};
    std::vector<measure::Answer> answers = TRY(session.compare(both, kRounds, kRoundMs));
    return std::move(answers.front());
  }
  std::optional<measure::Answer> answer;
  TRY(session.measure({&trace, 1}, [&](const measure::Answer& one) { answer = one; }));
  if (!answer) return fail(ErrorKind::Io, "stopped before it was measured");
  return std::move(*answer);
}

}  // namespace

std::optional<double> change_of(const Verdict& written, const Verdict& now) {
  const bool both_timed = written.kind == VerdictKind::Timed && now.kind == VerdictKind::Timed;
  if (!both_timed || written.latency_ns <= 0) return std::nullopt;
  return now.latency_ns / written.latency_ns - 1;
}

bool agrees(const Verdict& written, const Verdict& now) {
  if (now.kind != VerdictKind::Timed) return written.kind == now.kind;
  if (written.kind == VerdictKind::Censored) {
    return now.latency_ns >= written.latency_ns * (1 - kReplayTolerance);
  }
  if (written.kind != VerdictKind::Timed) return false;
  return now.latency_ns >= written.latency_ns * (1 - kReplayTolerance) &&
         now.latency_ns <= written.latency_ns * (1 + kReplayTolerance);
}

bool may_be_noise(const Verdict& written, const Verdict& now) {
  if (now.kind == VerdictKind::Device) return true;
  return written.kind == VerdictKind::Timed && now.kind == VerdictKind::Timed &&
         now.latency_ns > written.latency_ns * (1 + kReplayTolerance);
}

Result<ReplayOutcome> replay(const ReplayOptions& options, const StopToken& stop) {
  record::Store store = TRY(open_store(options.records, record::OpenAs::Existing));
  ReplayOutcome outcome;
  outcome.written = TRY(find_attempt(store, options.id));
  const record::Attempt& written = outcome.written;
  const Task task = TRY(task_of_attempt(store, written, options.tables));
  const schedule::Trace trace = TRY(schedule::trace_from_text(written.trace));
  TRY(check_workers(options.workers));
  const std::string_view back_end = codegen::recorded_name(task.target, options.tables.back_ends);
  outcome.remarks = differences(written, back_end);
  outcome.flop = task.workload.dag->flop();

  Result<measure::Session> started =
      measure::Session::start(task, store, session_options(written, back_end, options, stop));
  if (!started && stop.requested()) return outcome;
  measure::Session session = TRY(std::move(started));
  std::optional<measure::Answer>& best = outcome.now;
  for (int tries = 0; tries < kTries && !stop.requested(); ++tries) {
    Result<measure::Answer> measured = measure_again(session, written, trace);
    if (!measured && stop.requested()) break;
    measure::Answer answer = TRY(std::move(measured));
    const bool better = !best || is_failure(best->attempt.verdict.kind) ||
                        answer.attempt.verdict.latency_ns < best->attempt.verdict.latency_ns;
    if (better) best = std::move(answer);
    if (!may_be_noise(written.verdict, best->attempt.verdict)) break;
  }
  if (!best) return outcome;
  outcome.agrees = agrees(written.verdict, best->attempt.verdict);
  outcome.change = change_of(written.verdict, best->attempt.verdict);
  return outcome;
}

}  // namespace tilewright::app
