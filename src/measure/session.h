// Session: a Measurer with a Store. A program with a stored verdict for the same task, target,
// machine, protocol and code generator is not measured again (record/known_verdicts.h), even if
// another process has stored it a moment ago. Each new verdict is in the store before it is
// reported. Not to be shared between threads.
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
  std::string command;   // of the run that is recorded
  std::string version;   // of the program
  bool force = false;    // measure also what has a verdict
  Hash128 trajectory{};  // that the run is of; zero: none
};

// One candidate of a call, answered.
struct Answer {
  size_t candidate = 0;
  bool stored = false;  // it was there before: not measured
  record::Attempt attempt;
  Hash128 attempt_id;
  double kernel_ns = 0;
};

class Session {
 public:
  // `store` outlives the session, and so does `known`: what is asked for verdicts and is told of
  // new ones. Null: it has its own.
  static Result<Session> start(const Task& task, record::Store& store,
                               const SessionOptions& options,
                               record::KnownVerdicts* known = nullptr);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Measurer& measurer();

  // One answer per candidate, in any order. Of two that are the same program, one is measured and
  // the other is answered with its verdict.
  using Report = std::function<void(const Answer&)>;
  Status measure(std::span<const Proposal> candidates, const Report& report);
  Status measure(std::span<const schedule::Trace> candidates, const Report& report);

  // Given programs in turns; stored under the interleaved protocol. In the order given.
  Result<std::vector<Answer>> compare(std::span<const Proposal> candidates, int rounds = 5,
                                      double round_ms = 100);
  Result<std::vector<Answer>> compare(std::span<const schedule::Trace> candidates, int rounds = 5,
                                      double round_ms = 100);
  // The same of the `count` fastest of this task in this setting and the default schedule; the
  // fastest first, failures last.
  Result<std::vector<Answer>> finals(size_t count, int rounds = 5, double round_ms = 100);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::measure
