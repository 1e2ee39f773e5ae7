// replay: builds and measures the candidate of a stored attempt again, under its protocol, and
// reports whether the new verdict agrees with the stored one. The new attempt is stored. A result
// that is merely slower is measured again, up to three times, because noise adds time and never
// removes it.
//
//   stored       now          agrees when
//   timed        timed        within kReplayTolerance of the stored time
//   censored >t  timed        not faster than t, within the tolerance
//   censored     censored     always
//   failure      failure      of the same kind
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/records.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "measure/session.h"
#include "record/attempt.h"

namespace tilewright::app {

inline constexpr double kReplayTolerance = 0.1;

struct ReplayOptions {
  std::string id{};  // id of the attempt, or a prefix of it
  std::string records = kDefaultRecords;
  std::filesystem::path workers{};  // folder of the worker programs
  deploy::BackEndTables tables{};   // the workers have the same rows
};

struct ReplayOutcome {
  record::Attempt written;             // the stored attempt
  std::optional<measure::Answer> now;  // empty: stopped before there was a verdict
  bool agrees = false;
  // Latency now relative to the stored one: 0.1 is 10 % slower. Empty unless both were timed.
  std::optional<double> change;
  std::vector<std::string> remarks;  // why the two times are only roughly comparable
  double flop = 0;
};

Result<ReplayOutcome> replay(const ReplayOptions& options, const StopToken& stop);

std::optional<double> change_of(const record::Verdict& written, const record::Verdict& now);
bool agrees(const record::Verdict& written, const record::Verdict& now);
// Slower than the stored time, with noise as a possible reason: worth another measurement.
bool may_be_noise(const record::Verdict& written, const record::Verdict& now);

}  // namespace tilewright::app
