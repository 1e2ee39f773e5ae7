// measure: each program of an operator gets a verdict, which is in the store before it is reported;
// the fastest are then measured again in turns with the default schedule. A StopToken ends it
// early, with everything kept.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/records.h"
#include "app/target_choice.h"
#include "app/verdict_counts.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "measure/session.h"  // IWYU pragma: export
#include "record/attempt.h"

namespace tilewright::app {

struct MeasureOptions {
  std::string what{};    // an operator or a name of the suite
  std::string traces{};  // a file of traces; empty: random ones
  size_t random = 0;     // number of random legal schedules instead
  std::string records = kDefaultRecords;
  TargetChoice target{};
  std::filesystem::path workers{};  // the folder of the worker programs
  std::string cache = "warm";
  uint64_t seed = 1;               // of random schedules and of the inputs
  bool force = false;              // also programs with a verdict in the store
  double seconds = 0;              // no trial begins after that; 0: no limit
  size_t finalists = 8;            // measured again at the end
  deploy::BackEndTables tables{};  // that the workers have too
};

// What a run has found so far.
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

class MeasureListener {
 public:
  virtual ~MeasureListener() = default;
  virtual void on_few_schedules(size_t /*drawn*/, size_t /*wanted*/) {}
  virtual void on_start(const Task& /*task*/) {}
  virtual void on_answer(const MeasureTally& /*tally*/, const measure::Answer& /*answer*/,
                         double /*elapsed_s*/) {}
  virtual void on_measured(const MeasureTally& /*tally*/, double /*elapsed_s*/) {}
  virtual void on_finals() {}
};

struct MeasureOutcome {
  bool begun = false;  // false: the end came before the reference was made
  Task task;
  MeasureTally tally;
  std::vector<measure::Answer> finals;  // the fastest first
  Hash128 default_program;              // the default schedule's, where there are finals
  bool stopped = false;                 // by the token
  double seconds = 0;                   // without the finals
  Status status = {};                   // what ended it early, after some verdicts
};

Result<MeasureOutcome> measure(const MeasureOptions& options, MeasureListener& listener,
                               const StopToken& stop);

}  // namespace tilewright::app
