#include "tune/trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/clock.h"
#include "base/random_id.h"
#include "schedule/trace.h"

namespace tilewright::tune {
namespace {

constexpr uint8_t kLater = 0;
constexpr uint8_t kBefore = 1;
constexpr uint8_t kOwn = 2;

uint8_t rank_of(const record::Attempt& attempt, const Trajectory& trajectory) {
  if (trajectory.runs.contains(attempt.run)) return kOwn;
  return attempt.end_us < trajectory.begin_us ? kBefore : kLater;
}

// Whether `rank`, `end_us` is to be taken rather than what is there.
bool replaces(uint8_t rank, int64_t end_us, const KnownTrials::OfProgram& there) {
  if (rank != there.rank) return rank > there.rank;
  return rank == kBefore ? end_us > there.end_us : end_us < there.end_us;
}

constexpr std::string_view kWalked = " walked: ";

// What stands behind the mark; nothing of a run that did not end by itself.
std::optional<Budget> walk_of(std::string_view command) {
  const size_t at = command.rfind(kWalked);
  if (at == std::string_view::npos) return {};
  std::istringstream text(std::string(command.substr(at + kWalked.size())));
  Budget walk;
  std::string unit;
  if (!(text >> walk.trials >> unit >> walk.seconds)) return {};
  return walk;
}

}  // namespace

bool Trajectory::was_walked(const Budget& walk) const {
  return std::ranges::any_of(walked, [&](const Budget& one) {
    return (walk.trials > 0 && one.trials >= walk.trials) ||
           (walk.seconds > 0 && one.seconds >= walk.seconds);
  });
}

Status record_completed(record::Store& store, const Trajectory& trajectory, const Budget& walk) {
  return store.put_run({.id = random_id(),
                        .start_us = time_of_day_us(),
                        .command = fmt::format("{}{}{} trials {} s", trajectory.command, kWalked,
                                               walk.trials, walk.seconds),
                        .version = trajectory.version});
}

Result<Trajectory> enter_trajectory(record::Store& store, Hash128 key, const std::string& command,
                                    const std::string& version) {
  const std::string mark = fmt::format("(trajectory {})", key.hex());
  Trajectory trajectory{.key = key,
                        .command = command + " " + mark,
                        .version = version,
                        .begin_us = time_of_day_us()};
  Result<std::vector<record::Run>> runs = store.runs_with(mark);
  if (!runs) return std::unexpected(runs.error());
  for (const record::Run& run : *runs) {
    trajectory.runs.insert(run.id);
    trajectory.begin_us = std::min(trajectory.begin_us, run.start_us);
    if (const auto walk = walk_of(run.command)) trajectory.walked.push_back(*walk);
  }
  if (!runs->empty()) return trajectory;
  const Status put = store.put_run({.id = random_id(),
                                    .start_us = trajectory.begin_us,
                                    .command = trajectory.command,
                                    .version = version});
  if (!put) return std::unexpected(put.error());
  return trajectory;
}

Result<KnownTrials> load_known(record::Store& store, const record::Setting& setting,
                               const Trajectory& trajectory) {
  KnownTrials known;
  Status parsed;
  const Status read = store.for_each_attempt(setting.task, [&](const record::Attempt& attempt) {
    if (attempt.machine != setting.machine || attempt.protocol != setting.protocol) return true;
    if (attempt.code_generator != setting.code_generator) return true;
    const record::VerdictKind kind = attempt.verdict.kind;
    // Illegal ones are never proposed; failures of the machine are no verdict.
    if (kind == record::VerdictKind::Device || kind == record::VerdictKind::Illegal) return true;
    const uint8_t rank = rank_of(attempt, trajectory);
    const auto there = known.trials.find(attempt.program);
    if (there != known.trials.end() && !replaces(rank, attempt.end_us, there->second)) return true;
    Result<schedule::Trace> trace = schedule::trace_from_text(attempt.trace);
    if (!trace) {
      parsed = std::unexpected(trace.error());
      return false;
    }
    known.trials.insert_or_assign(
        attempt.program,
        KnownTrials::OfProgram{
            .trial = {.proposal = {.trace = std::move(*trace), .program = attempt.program},
                      .trial = {.kind = kind,
                                .latency_ns = attempt.verdict.latency_ns,
                                .stored = true,
                                .attempt = attempt.id(),
                                .text = attempt.verdict.text}},
            .end_us = attempt.end_us,
            .build_s = attempt.conditions.build_ns * 1e-9,
            .check_s = attempt.conditions.check_ns * 1e-9,
            .rank = rank});
    return true;
  });
  if (!read) return std::unexpected(read.error());
  if (!parsed) return std::unexpected(parsed.error());
  return known;
}

std::vector<PastTrial> KnownTrials::before() const {
  std::vector<const OfProgram*> found;
  for (const auto& [program, one] : trials) {
    if (one.rank == kBefore) found.push_back(&one);
  }
  std::ranges::sort(found, {}, [](const OfProgram* one) {
    return std::pair(one->end_us, one->trial.proposal.program);
  });
  std::vector<PastTrial> past;
  past.reserve(found.size());
  for (const OfProgram* one : found) past.push_back(one->trial);
  return past;
}

std::vector<const KnownTrials::OfProgram*> KnownTrials::fastest(size_t count) const {
  std::vector<const OfProgram*> timed;
  for (const auto& [program, one] : trials) {
    if (one.trial.trial.is_timed()) timed.push_back(&one);
  }
  std::ranges::sort(timed, {}, [](const OfProgram* one) {
    return std::pair(one->trial.trial.latency_ns, one->trial.proposal.program);
  });
  timed.resize(std::min(count, timed.size()));
  return timed;
}

}  // namespace tilewright::tune
