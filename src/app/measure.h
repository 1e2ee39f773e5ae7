// measure: gives each program of an operator a verdict, which is stored before it is reported. The
// fastest programs are then measured again, interleaved with the default schedule. A StopToken ends
// it early and keeps all results.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/records.h"
#include "app/target_choice.h"
#include "app/verdicts.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "measure/session.h"  // IWYU pragma: export
#include "record/attempt.h"

namespace tilewright::app {

struct MeasureOptions {
  std::string what{};    // an operator or a name of the suite
  std::string traces{};  // a file of traces; empty: random schedules
  size_t random = 0;     // number of random legal schedules, if `traces` is empty
  std::string records = kDefaultRecords;
  TargetChoice target{};
  std::filesystem::path workers{};  // folder of the worker programs
  std::string cache = "warm";
  std::vector<std::string> allow{};  // app/allowed.h
  uint64_t seed = 1;                 // seed of random schedules and of the inputs
  bool force = false;                // also measure programs with a stored verdict
  double seconds = 0;                // start no trial after this time; 0: no limit
  size_t finalists = 8;              // number of programs measured again at the end
  std::string command{};             // noted in the store as the origin; empty: `measure WHAT`
  deploy::BackEndTables tables{};    // the workers have the same rows
};

// Running totals of a call of measure.
struct MeasureTally {
  size_t total = 0;     // number of candidates
  size_t measured = 0;  // verdicts from this run
  size_t stored = 0;    // verdicts from the store
  VerdictCounts by_kind{};
  std::array<std::string, record::kVerdictKinds>
      example;         // `candidate 3: ...`: the first candidate of each kind
  double best_ns = 0;  // 0: none yet
  Hash128 best_id;

  void add(const measure::Answer& answer);
  size_t answered() const { return measured + stored; }
  size_t count(record::VerdictKind kind) const { return by_kind[static_cast<size_t>(kind)]; }
  size_t valid() const {  // correct, whatever their speed
    return count(record::VerdictKind::Timed) + count(record::VerdictKind::Censored);
  }
  // Verdicts from the store cost no time. 0: not known yet.
  double trials_per_s(double elapsed_s) const;
  double left_s(double elapsed_s) const;  // estimate for the other candidates
};

class MeasureListener {
 public:
  virtual ~MeasureListener() = default;
  virtual void on_few_schedules(size_t /*drawn*/, size_t /*wanted*/) {}
  virtual void on_start(double /*flop*/) {}  // of the operator
  virtual void on_answer(const MeasureTally& /*tally*/, const measure::Answer& /*answer*/,
                         double /*elapsed_s*/) {}
  virtual void on_measured(const MeasureTally& /*tally*/, double /*elapsed_s*/) {}
  virtual void on_finals() {}
};

// A program that was measured again at the end.
struct MeasureFinal {
  measure::Answer answer;
  bool is_default = false;     // it is that of the default schedule
  double against_default = 0;  // how many times as fast as the default schedule; 0: not known

  bool is_timed() const { return answer.attempt.verdict.kind == record::VerdictKind::Timed; }
};
// In the order of the answers.
std::vector<MeasureFinal> compare_finals(std::vector<measure::Answer> answers,
                                         const Hash128& default_program);

struct MeasureOutcome {
  bool begun = false;  // false: stopped before the reference was computed
  Task task;
  std::string target;  // of the task, its text
  double flop = 0;     // of the task
  MeasureTally tally;
  std::vector<MeasureFinal> finals;  // fastest first
  bool stopped = false;              // by the StopToken
  double seconds = 0;                // excluding the finals
  Status status = {};                // error that ended it early, after some verdicts

  // Latency of the default schedule in the finals; 0 if it is not among them or was not timed.
  double default_ns() const;
};

Result<MeasureOutcome> measure(const MeasureOptions& options, MeasureListener& listener,
                               const StopToken& stop);

}  // namespace tilewright::app
