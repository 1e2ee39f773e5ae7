#include "measure/session.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/clock.h"
#include "base/random_id.h"
#include "base/rng.h"
#include "codegen/version.h"
#include "measure/trials.h"
#include "schedule/apply.h"
#include "target/machine.h"

namespace tilewright::measure {
namespace {

using record::Attempt;
using record::VerdictKind;

// Where a verdict is found again: the store has the rest.
struct Known {
  Hash128 attempt;
  VerdictKind kind = VerdictKind::Device;
  double latency_ns = 0;
};

// What has to be measured, each program once; candidates that mean the same are answered with it.
struct Fresh {
  schedule::Trace trace;
  Hash128 program;  // zero when it is illegal
  std::vector<size_t> requesters;
};

Hash128 hash_of_text(std::string_view text) { return Hasher().add_text(text).finish(); }

}  // namespace

struct Session::Impl {
  Impl(record::Store& to, Measurer with) : store(to), measurer(std::move(with)) {}

  record::Store& store;
  Measurer measurer;
  SessionOptions options;
  record::Setting setting;
  Hash128 run;
  int64_t sequence = 0;
  schedule::LoopTree initial, tree;
  // By program; of illegal candidates, which have none, by the hash of the trace's text.
  std::unordered_map<Hash128, Known> known;
  int64_t version_seen = 0;   // of the store, as others have left it
  bool others_write = false;  // since this session began

  Status load();
  Status look_again();  // loads what others have stored meanwhile
  void remember(const Attempt& attempt);
  Hash128 program_of(const schedule::Trace& trace);  // zero when it is illegal
  const Known* find(const schedule::Trace& trace, Hash128 program) const;
  Result<Attempt> fetch(const Known& known);
  Attempt attempt_of(const Measurement& measurement, std::string trace, bool interleaved);
  Status answer_from_store(const Known& of, std::span<const size_t> requesters,
                           const Report& report);
  Status keep_and_report(std::span<const Measurement> group, std::span<const Fresh> fresh,
                         const Report& report);
};

Status Session::Impl::load() {
  const Result<int64_t> version = store.version_of_others();
  if (!version) return std::unexpected(version.error());
  version_seen = *version;
  Result<std::vector<Attempt>> stored = store.measured(setting);
  if (!stored) return std::unexpected(stored.error());
  for (const Attempt& attempt : *stored) {
    remember(attempt);
    if (attempt.verdict.kind == VerdictKind::Timed) {
      measurer.set_incumbent(attempt.verdict.latency_ns);
    }
  }
  return {};
}

Status Session::Impl::look_again() {
  const Result<int64_t> version = store.version_of_others();
  if (!version) return std::unexpected(version.error());
  if (*version == version_seen) return {};
  others_write = true;
  return load();
}

// A failure of the machine is no verdict on the candidate.
void Session::Impl::remember(const Attempt& attempt) {
  if (attempt.verdict.kind == VerdictKind::Device) return;
  const bool illegal = attempt.verdict.kind == VerdictKind::Illegal;
  known.insert_or_assign(illegal ? hash_of_text(attempt.trace) : attempt.program,
                         Known{.attempt = attempt.id(),
                               .kind = attempt.verdict.kind,
                               .latency_ns = attempt.verdict.latency_ns});
}

Hash128 Session::Impl::program_of(const schedule::Trace& trace) {
  return schedule::apply(initial, trace, &tree) ? Hash128{} : schedule::program_hash(tree);
}

// The stored verdict of a candidate, if it has one.
const Known* Session::Impl::find(const schedule::Trace& trace, Hash128 program) const {
  const auto found =
      known.find(program == Hash128{} ? hash_of_text(schedule::to_text(trace)) : program);
  return found == known.end() ? nullptr : &found->second;
}

Result<Attempt> Session::Impl::fetch(const Known& of) {
  Result<std::optional<Attempt>> attempt = store.find_attempt(of.attempt);
  if (!attempt) return std::unexpected(attempt.error());
  if (!*attempt) return fail(ErrorKind::Io, "the store has lost an attempt: run `records check`");
  return std::move(**attempt);
}

Attempt Session::Impl::attempt_of(const Measurement& measurement, std::string trace,
                                  bool interleaved) {
  record::Protocol protocol = setting.protocol;
  protocol.interleaved = interleaved;
  return {.run = run,
          .sequence = sequence++,
          .task = setting.task,
          .program = measurement.program,
          .trace = std::move(trace),
          .machine = setting.machine,
          .protocol = protocol,
          .code_generator = setting.code_generator,
          .start_us = measurement.start_us,
          .end_us = measurement.end_us,
          .verdict = measurement.verdict,
          .conditions = measurement.conditions,
          .extra = {}};
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Measurer& Session::measurer() { return impl_->measurer; }

Result<Session> Session::start(const Task& task, record::Store& store,
                               const SessionOptions& options) {
  Result<Measurer> measurer = Measurer::start(task, options.measure);
  if (!measurer) return std::unexpected(measurer.error());
  auto impl = std::make_unique<Impl>(store, std::move(*measurer));
  impl->options = options;
  impl->run = random_id();
  Result<schedule::LoopTree> initial = schedule::initial_tree(impl->measurer.task().workload);
  if (!initial) return std::unexpected(initial.error());
  impl->initial = std::move(*initial);
  const Machine machine = detect_machine();
  impl->setting = {.task = task.key(),
                   .machine = record::machine_id(machine),
                   .protocol = options.measure.protocol,
                   .code_generator = codegen::kCodeGeneratorVersion};
  for (const Status& status : {store.put_task(task), store.put_machine(machine),
                               store.put_run({.id = impl->run,
                                              .start_us = time_of_day_us(),
                                              .command = options.command,
                                              .version = options.version}),
                               impl->load()}) {
    if (!status) return std::unexpected(status.error());
  }
  return Session(std::move(impl));
}

Status Session::Impl::answer_from_store(const Known& of, std::span<const size_t> requesters,
                                        const Report& report) {
  const Result<Attempt> attempt = fetch(of);
  if (!attempt) return std::unexpected(attempt.error());
  for (const size_t candidate : requesters) {
    report({.candidate = candidate,
            .stored = true,
            .attempt = *attempt,
            .attempt_id = of.attempt,
            .kernel_ns = 0});
  }
  return {};
}

Status Session::Impl::keep_and_report(std::span<const Measurement> group,
                                      std::span<const Fresh> fresh, const Report& report) {
  std::vector<Attempt> attempts;
  attempts.reserve(group.size());
  for (const Measurement& measurement : group) {
    attempts.push_back(
        attempt_of(measurement, schedule::to_text(fresh[measurement.candidate].trace), false));
  }
  if (const Status status = store.append(attempts); !status) return status;
  for (size_t k = 0; k < group.size(); ++k) {
    remember(attempts[k]);
    bool first = true;
    for (const size_t candidate : fresh[group[k].candidate].requesters) {
      report({.candidate = candidate,
              .stored = !first,
              .attempt = attempts[k],
              .attempt_id = attempts[k].id(),
              .kernel_ns = first ? group[k].kernel_ns : 0});
      first = false;
    }
  }
  return {};
}

Status Session::measure(std::span<const schedule::Trace> candidates, const Report& report) {
  Impl& impl = *impl_;
  const bool force = impl.options.force;
  if (const Status status = force ? Status() : impl.look_again(); !status) return status;
  std::vector<Fresh> fresh;
  std::map<Hash128, size_t> fresh_of;
  for (size_t k = 0; k < candidates.size(); ++k) {
    const Hash128 program = impl.program_of(candidates[k]);
    const Known* known = force ? nullptr : impl.find(candidates[k], program);
    if (known != nullptr) {
      const Status status = impl.answer_from_store(*known, {&k, 1}, report);
      if (!status) return status;
      continue;
    }
    if (program != Hash128{}) {
      const auto [at, added] = fresh_of.try_emplace(program, fresh.size());
      if (!added) {
        fresh[at->second].requesters.push_back(k);
        continue;
      }
    }
    fresh.push_back({.trace = candidates[k], .program = program, .requesters = {k}});
  }
  // Whoever is at the same search has another order, so that the work is divided.
  if (impl.others_write) {
    Rng rng(impl.run.low);
    for (size_t k = fresh.size(); k > 1; --k) std::swap(fresh[k - 1], fresh[rng.below(k)]);
  }
  std::vector<schedule::Trace> traces;
  traces.reserve(fresh.size());
  for (const Fresh& one : fresh) traces.push_back(one.trace);
  const auto wanted = [&](size_t k) -> Result<bool> {
    if (const Status status = impl.look_again(); !status) return std::unexpected(status.error());
    const Known* const known = impl.find(fresh[k].trace, fresh[k].program);
    if (known == nullptr) return true;
    const Status status = impl.answer_from_store(*known, fresh[k].requesters, report);
    if (!status) return std::unexpected(status.error());
    return false;
  };
  return impl.measurer.measure(
      traces,
      [&](std::span<const Measurement> group) {
        return impl.keep_and_report(group, fresh, report);
      },
      force ? Measurer::Wanted() : wanted);
}

Result<std::vector<Answer>> Session::compare(std::span<const schedule::Trace> candidates,
                                             int rounds, double round_ms) {
  const Result<std::vector<Measurement>> measured =
      impl_->measurer.compare(candidates, rounds, round_ms);
  if (!measured) return std::unexpected(measured.error());
  std::vector<Attempt> attempts;
  for (const Measurement& measurement : *measured) {
    attempts.push_back(
        impl_->attempt_of(measurement, schedule::to_text(candidates[measurement.candidate]), true));
  }
  if (const Status status = impl_->store.append(attempts); !status) {
    return std::unexpected(status.error());
  }
  std::vector<Answer> answers;
  answers.reserve(attempts.size());
  for (size_t k = 0; k < attempts.size(); ++k) {
    answers.push_back({.candidate = k,
                       .stored = false,
                       .attempt = attempts[k],
                       .attempt_id = attempts[k].id(),
                       .kernel_ns = (*measured)[k].kernel_ns});
  }
  return answers;
}

Result<std::vector<Answer>> Session::finals(size_t count, int rounds, double round_ms) {
  std::vector<const Known*> timed;
  for (const auto& [program, known] : impl_->known) {
    if (known.kind == VerdictKind::Timed) timed.push_back(&known);
  }
  std::ranges::sort(
      timed, {}, [](const Known* known) { return std::pair(known->latency_ns, known->attempt); });
  timed.resize(std::min(count, timed.size()));

  std::vector<schedule::Trace> traces = {impl_->measurer.default_trace()};
  const Hash128 default_program = impl_->program_of(traces[0]);
  for (const Known* known : timed) {
    const Result<Attempt> attempt = impl_->fetch(*known);
    if (!attempt) return std::unexpected(attempt.error());
    Result<schedule::Trace> trace = schedule::trace_from_text(attempt->trace);
    if (!trace) return std::unexpected(trace.error());
    if (attempt->program != default_program) traces.push_back(std::move(*trace));
  }
  Result<std::vector<Answer>> answers = compare(traces, rounds, round_ms);
  if (!answers) return answers;
  std::ranges::sort(*answers, {}, [](const Answer& answer) {
    const record::Verdict& verdict = answer.attempt.verdict;
    return std::tuple(verdict.kind, verdict.latency_ns, answer.candidate);
  });
  return answers;
}

}  // namespace tilewright::measure
