// replay: builds and measures the candidate of a stored attempt again, by its protocol, and says
// whether the new verdict agrees with the stored one. The new attempt is stored. A time that is
// only slower than the stored one is taken again, up to three times: noise adds time and never
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
  std::string id{};  // of the attempt, or the beginning of it
  std::string records = kDefaultRecords;
  std::filesystem::path workers{};  // the folder of the worker programs
  deploy::BackEndTables tables{};   // that the workers have too
};

struct ReplayOutcome {
  record::Attempt written;             // the stored attempt
  std::optional<measure::Answer> now;  // none: stopped before there was a verdict
  bool agrees = false;
  std::vector<std::string> remarks;  // why the two times are only roughly comparable
  double flop = 0;
};

Result<ReplayOutcome> replay(const ReplayOptions& options, const StopToken& stop);

bool agrees(const record::Verdict& written, const record::Verdict& now);
// Only slower than the stored time: noise may be the reason, so another try is worth it.
bool may_be_noise(const record::Verdict& written, const record::Verdict& now);

}  // namespace tilewright::app
