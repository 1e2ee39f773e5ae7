// Attempt: one try to build, check and time a candidate; append-only. It ends in one Verdict:
// times, `censored` for what is right but clearly slow, or a failure with its kind and what
// happened. Values; times of day are microseconds since 1970 (UTC), durations nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "record/protocol.h"

namespace tilewright::record {

// Stored by text, never by number.
enum class VerdictKind : uint8_t {
  Timed,
  Censored,      // right, but slower than latency_ns: not worth more samples
  Illegal,       // a step does not apply
  Lower,         // no loop IR could be made
  Build,         // no object could be made, or the compiler died
  BuildTimeout,  //
  Crash,         // the kernel died, or wrote where it must not
  RunTimeout,    //
  WrongResult,   //
  Device,        // the machine or its workers failed, not the candidate: may be tried again
};
inline constexpr int kVerdictKinds = static_cast<int>(VerdictKind::Device) + 1;
std::string_view text_of(VerdictKind kind);  // `timed`, `build_timeout`
Result<VerdictKind> parse_verdict_kind(std::string_view text);
inline bool is_failure(VerdictKind kind) { return kind > VerdictKind::Censored; }

struct Verdict {
  VerdictKind kind = VerdictKind::Device;
  double latency_ns = 0;           // timed: the low quantile quoted; censored: it is above this
  std::vector<double> samples_ns;  // of one call each, in the order taken; disturbed ones left out
  std::string text;                // of a failure: what happened; else may be empty

  bool operator==(const Verdict&) const = default;
};

// What the attempt cost, and what the machine was like meanwhile.
struct Conditions {
  double build_ns = 0;    // CPU time of the build worker
  double check_ns = 0;    // wall time: loading, packing, the first run and the comparison
  double time_ns = 0;     // wall time: warm-up and samples
  int64_t disturbed = 0;  // samples that were taken again
  double clock = 0;       // speed of a short FMA loop against the best of this process: 1 = full
  double load = 0;        // of the machine when it began: /proc/loadavg, one minute

  bool operator==(const Conditions&) const = default;
};

struct Attempt {
  Hash128 run;           // who made it
  int64_t sequence = 0;  // within the run
  Hash128 task;          // Task::key()
  Hash128 program;       // of the canonical LoopTree; zero when the trace is illegal
  std::string trace;     // text form: the truth about the candidate
  Hash128 machine;       // machine_id of who measured
  Protocol protocol;
  int64_t code_generator = 0;  // codegen::kCodeGeneratorVersion
  int64_t start_us = 0, end_us = 0;
  Verdict verdict;
  Conditions conditions;
  std::string extra;  // members of its JSON that this version does not know, as an object, or empty

  Hash128 id() const;  // of all of that: the same attempt has the same id in every store
  bool operator==(const Attempt&) const = default;
};

}  // namespace tilewright::record
