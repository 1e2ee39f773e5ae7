#include "measure/session.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "base/clock.h"
#include "base/random_id.h"
#include "base/rng.h"
#include "codegen/version.h"
#include "measure/trials.h"
#include "target/machine.h"

namespace tilewright::measure {
namespace {

using record::Attempt;

// The programs to be measured, each once; candidates with the same program get the same answer.
struct Fresh {
  Proposal proposal;
  std::vector<size_t> requesters;
};

}  // namespace

struct Session::Impl {
  Impl(record::Store& to, Measurer with) : store(to), measurer(std::move(with)) {}

  record::Store& store;
  Measurer measurer;
  SessionOptions options;
  record::Setting setting;
  Hash128 run;
  int64_t sequence = 0;
  std::unique_ptr<record::KnownVerdicts> own_known;
  record::KnownVerdicts* known = nullptr;

  // Answers the requesters from the store if it has a verdict by now.
  Result<bool> answer_if_known(const Proposal& proposal, std::span<const size_t> requesters,
                               const Report& report);
  Result<Attempt> fetch(const Hash128& attempt);
  Attempt attempt_of(const Measurement& measurement, std::string trace, bool interleaved);
  Status keep_and_report(std::span<const Measurement> group, std::span<const Fresh> fresh,
                         const Report& report);
};

Result<bool> Session::Impl::answer_if_known(const Proposal& proposal,
                                            std::span<const size_t> requesters,
                                            const Report& report) {
  TRY(known->refresh());
  const record::KnownVerdict* const found = known_verdict(*known, proposal);
  if (found == nullptr) return false;
  const Hash128 id = found->attempt;
  const Attempt attempt = TRY(fetch(id));
  for (const size_t candidate : requesters) {
    report({.candidate = candidate,
            .stored = true,
            .attempt = attempt,
            .attempt_id = id,
            .kernel_ns = 0});
  }
  return true;
}

Result<Attempt> Session::Impl::fetch(const Hash128& attempt) {
  std::optional<Attempt> found = TRY(store.find_attempt(attempt));
  if (!found) {
    return fail(ErrorKind::Io, "the store has lost an attempt", {},
                {{"check_records", "", "lists what else is damaged"}});
  }
  return std::move(*found);
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
                               const SessionOptions& options, record::KnownVerdicts* known) {
  auto impl = std::make_unique<Impl>(store, TRY(Measurer::start(task, options.measure)));
  impl->options = options;
  impl->run = random_id();
  const Machine machine = detect_machine();
  impl->setting = {.task = task.key(),
                   .machine = record::machine_id(machine),
                   .protocol = options.measure.protocol,
                   .code_generator = codegen::kCodeGeneratorVersion};
  const record::Run run{.id = impl->run,
                        .start_us = time_of_day_us(),
                        .command = options.command,
                        .version = options.version};
  TRY(store.put_task(task));
  TRY(store.put_machine(machine));
  TRY(options.trajectory == Hash128{} ? store.put_run(run)
                                      : store.put_run(run, options.trajectory));
  impl->known = known;
  if (known == nullptr) {
    impl->own_known = std::make_unique<record::KnownVerdicts>(
        TRY(record::KnownVerdicts::load(store, impl->setting, {}, options.recall)));
    impl->known = impl->own_known.get();
  }
  CHECK(impl->known->setting() == impl->setting, "verdicts of another setting");
  // Candidates far slower than the fastest are censored, even if another process measured the
  // fastest.
  for (const Attempt& best :
       TRY(store.best(task.key(), impl->setting.protocol, 1, impl->setting.machine))) {
    const bool comparable = best.protocol == impl->setting.protocol &&
                            best.code_generator == impl->setting.code_generator;
    if (comparable) impl->measurer.set_incumbent(best.verdict.latency_ns);
  }
  return Session(std::move(impl));
}

Status Session::Impl::keep_and_report(std::span<const Measurement> group,
                                      std::span<const Fresh> fresh, const Report& report) {
  std::vector<Attempt> attempts;
  attempts.reserve(group.size());
  for (const Measurement& measurement : group) {
    attempts.push_back(attempt_of(
        measurement, schedule::to_text(fresh[measurement.candidate].proposal.trace), false));
  }
  TRY(store.append(attempts));
  for (size_t k = 0; k < group.size(); ++k) {
    known->add(attempts[k]);
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
  return measure(impl_->measurer.proposals_of(candidates), report);
}

Status Session::measure(std::span<const Proposal> candidates, const Report& report) {
  Impl& impl = *impl_;
  std::vector<Fresh> fresh;
  std::map<Hash128, size_t> fresh_of;
  for (size_t k = 0; k < candidates.size(); ++k) {
    // For legal candidates, the measurer queries this before each build and each run.
    if (candidates[k].program == Hash128{}) {
      if (TRY(impl.answer_if_known(candidates[k], {&k, 1}, report))) continue;
    } else {
      const auto [at, added] = fresh_of.try_emplace(candidates[k].program, fresh.size());
      if (!added) {
        fresh[at->second].requesters.push_back(k);
        continue;
      }
    }
    fresh.push_back({.proposal = candidates[k], .requesters = {k}});
  }
  // A concurrent run of the same search uses another order, so that the work is divided.
  if (impl.known->others_write()) {
    Rng rng(impl.run.low);
    for (size_t k = fresh.size(); k > 1; --k) std::swap(fresh[k - 1], fresh[rng.below(k)]);
  }
  std::vector<Proposal> proposals;
  proposals.reserve(fresh.size());
  for (const Fresh& one : fresh) proposals.push_back(one.proposal);
  const auto wanted = [&](size_t k) -> Result<bool> {
    return !TRY(impl.answer_if_known(fresh[k].proposal, fresh[k].requesters, report));
  };
  return impl.measurer.measure(
      proposals,
      [&](std::span<const Measurement> group) {
        return impl.keep_and_report(group, fresh, report);
      },
      wanted);
}

Result<std::vector<Answer>> Session::compare(std::span<const schedule::Trace> candidates,
                                             int rounds, double round_ms) {
  return compare(impl_->measurer.proposals_of(candidates), rounds, round_ms);
}

Result<std::vector<Answer>> Session::compare(std::span<const Proposal> candidates, int rounds,
                                             double round_ms) {
  const std::vector<Measurement> measured =
      TRY(impl_->measurer.compare(candidates, rounds, round_ms));
  std::vector<Attempt> attempts;
  attempts.reserve(measured.size());
  for (const Measurement& measurement : measured) {
    attempts.push_back(impl_->attempt_of(
        measurement, schedule::to_text(candidates[measurement.candidate].trace), true));
  }
  TRY(impl_->store.append(attempts));
  std::vector<Answer> answers;
  answers.reserve(attempts.size());
  for (size_t k = 0; k < attempts.size(); ++k) {
    answers.push_back({.candidate = k,
                       .stored = false,
                       .attempt = attempts[k],
                       .attempt_id = attempts[k].id(),
                       .kernel_ns = measured[k].kernel_ns});
  }
  return answers;
}

Result<std::vector<Answer>> Session::finals(size_t count, int rounds, double round_ms) {
  const std::vector<Proposal> first =
      impl_->measurer.proposals_of({&impl_->measurer.default_trace(), 1});
  const std::vector<Proposal> finalists = TRY(finalists_of(*impl_->known, first[0], count));
  std::vector<Answer> answers = TRY(compare(finalists, rounds, round_ms));
  std::ranges::sort(answers, {}, [](const Answer& answer) {
    const record::Verdict& verdict = answer.attempt.verdict;
    return std::tuple(verdict.kind, verdict.latency_ns, answer.candidate);
  });
  return answers;
}

}  // namespace tilewright::measure
