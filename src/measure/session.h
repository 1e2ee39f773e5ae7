// Session: a Measurer with a Store. A program with a stored verdict for the same task, target,
// machine, protocol and code generator is not measured again (record/known_verdicts.h), even if
// another process stored it a moment ago. Each new verdict is stored before it is reported. Not
// thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/measurer.h"
#include "record/known_verdicts.h"
#include "record/store.h"

namespace tilewright::measure {

struct SessionOptions {
  MeasureOptions measure;
  std::string command;  // stored with the run
  std::string version;  // version of the program
  // Only for a session that creates its KnownVerdicts.
  record::Recall recall = record::Recall::All;
  Hash128 trajectory{};  // trajectory of the run; zero: none
};

// The result for one candidate of a call.
struct Answer {
  size_t candidate = 0;
  bool stored = false;  // answered from the store, not measured
  record::Attempt attempt;
  Hash128 attempt_id;
  double kernel_ns = 0;
};

class Session {
 public:
  // `store` and `known` outlive the session. `known` answers which verdicts exist and is updated
  // with new ones. Null: the session creates its own.
  static Result<Session> start(const Task& task, record::Store& store,
                               const SessionOptions& options,
                               record::KnownVerdicts* known = nullptr);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Measurer& measurer();

  // One answer per candidate, in any order. If two candidates are the same program, one is measured
  // and the other gets its verdict.
  using Report = std::function<void(const Answer&)>;
  Status measure(std::span<const Proposal> candidates, const Report& report);
  Status measure(std::span<const schedule::Trace> candidates, const Report& report);

  // Times the given programs interleaved and stores the results under the interleaved protocol.
  // Results are in the given order.
  Result<std::vector<Answer>> compare(std::span<const Proposal> candidates, int rounds = 5,
                                      double round_ms = 100);
  Result<std::vector<Answer>> compare(std::span<const schedule::Trace> candidates, int rounds = 5,
                                      double round_ms = 100);
  // The same for the `count` fastest programs of this task in this setting and the default
  // schedule; fastest first, failures last.
  Result<std::vector<Answer>> finals(size_t count, int rounds = 5, double round_ms = 100);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
