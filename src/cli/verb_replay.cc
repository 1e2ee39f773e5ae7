// `tilewright replay ID`: builds and measures the candidate of an attempt again, by its protocol,
// and says whether it agrees with what is written. What is measured is stored as a new attempt. A
// time that is only slower than written is taken again, up to three times: noise adds, it never
// takes away. Exit code 0 when they agree, else 3.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "base/json.h"
#include "cli/find_record.h"
#include "cli/interrupt.h"
#include "cli/measure_report.h"
#include "cli/records_common.h"
#include "cli/replay_agreement.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "cli/workers.h"
#include "codegen/version.h"

namespace tilewright::cli {
namespace {

constexpr int kTries = 3;
constexpr int kRounds = 5;
constexpr double kRoundMs = 100;
constexpr double kNever = 1e9;  // a multiple of any incumbent that nothing reaches

struct Options {
  std::string id;
  std::string records = kDefaultRecords;
};

Result<Task> task_of_attempt(record::Store& store, const record::Attempt& attempt) {
  const Result<std::optional<record::StoredTask>> stored = store.find_task(attempt.task);
  if (!stored) return std::unexpected(stored.error());
  if (!*stored) {
    return fail(ErrorKind::BadInput,
                fmt::format("the store does not have its task {}", attempt.task.hex()));
  }
  Result<Task> task = record::task_of(**stored);
  if (!task) return std::unexpected(task.error());
  if (const Status runs = check_runs_here(task->target); !runs) {
    return fail(ErrorKind::Unsupported,
                fmt::format("it was made for {}: {}", (*stored)->target, runs.error().message));
  }
  return task;
}

// What keeps the two times from being strictly comparable.
std::vector<std::string> differences(const record::Attempt& attempt) {
  std::vector<std::string> out;
  if (attempt.machine != record::machine_id(detect_machine())) {
    out.emplace_back("it was measured on another machine");
  }
  if (attempt.code_generator != codegen::kCodeGeneratorVersion) {
    out.push_back(fmt::format("code generator {} made it, this is {}", attempt.code_generator,
                              codegen::kCodeGeneratorVersion));
  }
  if (attempt.protocol.cache == record::CachePolicy::InModel) {
    out.emplace_back("it was timed between the other kernels of a model, and is now by itself");
  }
  return out;
}

measure::SessionOptions session_options(const record::Attempt& attempt,
                                        const std::filesystem::path& workers) {
  measure::SessionOptions out;
  out.command = "replay " + attempt.id().hex();
  out.version = TILEWRIGHT_VERSION;
  out.force = true;
  out.measure.workers = workers;
  out.measure.protocol = attempt.protocol;
  out.measure.protocol.interleaved = false;  // of finals only: compare says so itself
  if (attempt.protocol.cache == record::CachePolicy::InModel) {
    out.measure.protocol.cache = record::CachePolicy::WeightsCold;  // what is nearest to it
  }
  out.measure.censor_multiple = kNever;
  out.measure.timeout_floor_ms =
      std::max(out.measure.timeout_floor_ms, 20 * attempt.verdict.latency_ns * 1e-6);
  out.measure.stop = [] { return Interrupt::requested(); };
  return out;
}

// Alone, or in turns with the default schedule where that is how it was measured.
Result<measure::Answer> measure_again(measure::Session& session, const record::Attempt& attempt,
                                      const schedule::Trace& trace) {
  const bool in_turns =
      attempt.protocol.interleaved && attempt.verdict.kind == record::VerdictKind::Timed;
  if (in_turns) {
    const schedule::Trace both[] = {trace, session.measurer().default_trace()};
    Result<std::vector<measure::Answer>> answers = session.compare(both, kRounds, kRoundMs);
    if (!answers) return std::unexpected(answers.error());
    return std::move(answers->front());
  }
  std::optional<measure::Answer> answer;
  const Status status =
      session.measure({&trace, 1}, [&](const measure::Answer& candidate) { answer = candidate; });
  if (!status) return std::unexpected(status.error());
  if (!answer) return fail(ErrorKind::Io, "stopped before it was measured");
  return std::move(*answer);
}

void report(const Context& context, const record::Attempt& written, const measure::Answer& now,
            const Agreement& agreement, const std::vector<std::string>& remarks, double flop) {
  std::string text =
      fmt::format("{}: {}\n", agreement.agrees ? "agrees" : "does not agree", agreement.text);
  for (const std::string& remark : remarks) {
    text += fmt::format("{}: the times are only roughly comparable\n", remark);
  }
  text += fmt::format("stored as {}\n", short_id(now.attempt_id));
  Json again = answer_json(now, flop);
  again.erase("candidate");
  again.erase("stored");
  Json before = {{"id", written.id().hex()}, {"verdict", text_of(written.verdict.kind)}};
  if (!is_failure(written.verdict.kind)) before["latency_ns"] = written.verdict.latency_ns;
  if (!written.verdict.text.empty()) before["text"] = written.verdict.text;
  print(context, text,
        {{"agrees", agreement.agrees},
         {"protocol", print_protocol(now.attempt.protocol)},
         {"written", std::move(before)},
         {"now", std::move(again)},
         {"remarks", remarks}});
}

Result<ExitCode> run_replay(const Context& context, const Options& options) {
  Result<record::Store> store = record::Store::open(options.records, record::OpenAs::Existing);
  if (!store) return std::unexpected(store.error());
  const Result<record::Attempt> written = find_attempt(*store, options.id);
  if (!written) return std::unexpected(written.error());
  const Result<Task> task = task_of_attempt(*store, *written);
  if (!task) return std::unexpected(task.error());
  const Result<schedule::Trace> trace = schedule::trace_from_text(written->trace);
  if (!trace) return std::unexpected(trace.error());
  const Result<std::filesystem::path> workers = workers_folder();
  if (!workers) return std::unexpected(workers.error());

  const Interrupt interrupt;
  Result<measure::Session> session =
      measure::Session::start(*task, *store, session_options(*written, *workers));
  if (!session && Interrupt::requested()) return ExitCode::Interrupted;
  if (!session) return std::unexpected(session.error());
  std::optional<measure::Answer> best;
  for (int tries = 0; tries < kTries && !Interrupt::requested(); ++tries) {
    Result<measure::Answer> answer = measure_again(*session, *written, *trace);
    if (!answer && Interrupt::requested()) break;
    if (!answer) return std::unexpected(answer.error());
    const bool better = !best || is_failure(best->attempt.verdict.kind) ||
                        answer->attempt.verdict.latency_ns < best->attempt.verdict.latency_ns;
    if (better) best = std::move(*answer);
    if (!may_be_noise(written->verdict, best->attempt.verdict)) break;
  }
  if (!best) return ExitCode::Interrupted;
  const Agreement agreement = agreement_of(written->verdict, best->attempt.verdict);
  report(context, *written, *best, agreement, differences(*written), task->workload.dag->flop());
  return agreement.agrees ? ExitCode::Done : ExitCode::NothingValid;
}

}  // namespace

Action declare_replay(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("id", options->id, "of an attempt, or the beginning of it")->required();
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_replay(context, *options); };
}

}  // namespace tilewright::cli
