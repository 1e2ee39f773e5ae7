// MeasureTally: what a run of `tilewright measure` has found so far, and the line of progress that
// says so. A value; the clock is the caller's.
//
//   120/300  best 412.3 us 893.1 GFLOP/s  31.2 trials/s  failed: 2 build, 1 crash  left 0:06
#pragma once

#include <array>
#include <string>

#include "cli/verdict_counts.h"
#include "measure/session.h"
#include "record/attempt.h"

namespace tilewright::cli {

struct MeasureTally {
  size_t total = 0;     // candidates
  size_t measured = 0;  // now
  size_t stored = 0;    // had a verdict
  VerdictCounts by_kind{};
  std::array<std::string, record::kVerdictKinds>
      example;         // `candidate 3: ...`, the first of a kind
  double best_ns = 0;  // 0: none yet
  Hash128 best_id;

  void add(const measure::Answer& answer);
  size_t answered() const { return measured + stored; }
  size_t count(record::VerdictKind kind) const { return by_kind[static_cast<size_t>(kind)]; }
  size_t valid() const {  // right, whatever their speed
    return count(record::VerdictKind::Timed) + count(record::VerdictKind::Censored);
  }
};

std::string progress_line(const MeasureTally& tally, double flop, double elapsed_s);

}  // namespace tilewright::cli
