// Attempt: one attempt to build, check and time a candidate; append-only. It ends with one Verdict:
// a time, `censored` for a clearly slow candidate, or a failure with its kind and a description.
// Values; timestamps are microseconds since 1970 (UTC), durations nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "record/protocol.h"

namespace tilewright::record {

// Stored as text, never as a number.
enum class VerdictKind : uint8_t {
  Timed,
  Censored,      // slower than latency_ns: not worth more samples; correct, unless its first call
                 // was stopped, which its text says
  Illegal,       // a step does not apply
  Lower,         // lowering failed
  Build,         // code generation failed, or the compiler crashed
  BuildTimeout,  //
  Crash,         // the kernel crashed, or wrote out of bounds
  RunTimeout,    //
  WrongResult,   //
  Device,        // the machine or its workers failed, not the candidate: may be retried
};
inline constexpr int kVerdictKinds = static_cast<int>(VerdictKind::Device) + 1;
std::string_view text_of(VerdictKind kind);  // `timed`, `build_timeout`
Result<VerdictKind> parse_verdict_kind(std::string_view text);
inline bool is_failure(VerdictKind kind) { return kind > VerdictKind::Censored; }

struct Verdict {
  VerdictKind kind = VerdictKind::Device;
  double latency_ns = 0;           // timed: the low quantile; censored: a lower bound
  std::vector<double> samples_ns;  // per call, in the order taken, without disturbed ones
  std::string text;                // failure, stopped call: what happened; otherwise may be empty

  bool operator==(const Verdict&) const = default;
};

// The cost of the attempt, and the state of the machine during it.
struct Conditions {
  double build_ns = 0;    // CPU time of the build worker
  double check_ns = 0;    // wall time: loading, packing, first run and comparison
  double time_ns = 0;     // wall time: warm-up and samples
  int64_t disturbed = 0;  // samples that were repeated
  // Speed of a short FMA loop relative to the best of this process: 1 is full speed.
  double clock = 0;
  double load = 0;  // of the machine at the start: /proc/loadavg, one minute

  bool operator==(const Conditions&) const = default;
};

struct Attempt {
  Hash128 run;           // the run that made it
  int64_t sequence = 0;  // within the run
  Hash128 task;          // Task::key()
  Hash128 program;       // of the canonical LoopTree; zero if the trace is illegal
  std::string trace;     // text form: the authoritative description of the candidate
  Hash128 machine;       // machine_id of the host that measured
  Protocol protocol;
  int64_t code_generator = 0;  // codegen::kCodeGeneratorVersion
  int64_t start_us = 0, end_us = 0;
  Verdict verdict;
  Conditions conditions;
  std::string extra;  // unknown members of its JSON, as an object; may be empty

  Hash128 id() const;  // hash of all of the above: the same attempt has the same id in every store
  bool operator==(const Attempt&) const = default;
};

}  // namespace tilewright::record
