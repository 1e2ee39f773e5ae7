// Whether a verdict taken anew agrees with the one that is written. Pure functions.
//
//   written      now          agrees when
//   timed        timed        within kReplayTolerance of what is written
//   censored >t  timed        not faster than t, within the tolerance
//   censored     censored     always
//   failure      failure      of the same kind
#pragma once

#include <string>

#include "record/attempt.h"

namespace tilewright::cli {

inline constexpr double kReplayTolerance = 0.1;

struct Agreement {
  bool agrees = false;
  std::string text;  // one sentence with both
};

Agreement agreement_of(const record::Verdict& written, const record::Verdict& now);

// Only slower than written: noise of the machine may be the reason, so another try is worth it.
bool may_be_noise(const record::Verdict& written, const record::Verdict& now);

}  // namespace tilewright::cli
