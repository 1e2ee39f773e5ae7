// KnownVerdicts: the programs of one setting that have a verdict, and which of several verdicts
// counts. This is the only place that decides whether a program is known. A program with a verdict
// here is never measured again.
//
// `refresh` reads the store again if another process has written to it since. Two processes on one
// store therefore see each other's verdicts before each build and each run.
//
// If a program has several verdicts, the viewpoint decides which one counts:
//
//   1. the first verdict of the trajectory's own runs;
//   2. otherwise the last one from before the trajectory began;
//   3. otherwise the first one from afterwards.
//
// A verdict that is measured later never changes the answer, so a replayed search gets the same
// answers. The time of a verdict is when it was measured: one that is imported later, but was
// measured before the trajectory began, may change the answer. Without a viewpoint everything is
// from before: the last one counts.
//
// Failures of kind Device do not concern the program and are ignored. Illegal candidates have no
// program; their key is the hash of their text.
//
// Not thread-safe. The store outlives it.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace tilewright::record {

struct Viewpoint {
  int64_t begin_us = std::numeric_limits<int64_t>::max();
  std::set<Hash128> runs{};
};

struct KnownVerdict {
  enum class Origin : uint8_t { Later, Before, Own };

  Hash128 program;  // zero: illegal
  std::string trace;
  Hash128 attempt;
  VerdictKind kind = VerdictKind::Device;
  double latency_ns = 0;
  std::string text{};  // of a failure
  double build_ns = 0, check_ns = 0;
  int64_t end_us = 0;
  Origin origin = Origin::Later;
};

// The verdicts that make a program known. This alone decides which programs are measured
// again.
enum class Recall : uint8_t {
  All,
  Own,   // only those that are added: a forced search measures each program once
  None,  // none: a forced measurement measures a program on each request
};

class KnownVerdicts {
 public:
  static Result<KnownVerdicts> load(Store& store, const Setting& setting, Viewpoint viewpoint = {},
                                    Recall recall = Recall::All);

  // Reads what other processes have stored since.
  Status refresh();
  void add(const Attempt& attempt);  // that this process has stored

  const Setting& setting() const { return setting_; }
  Recall recall() const { return recall_; }
  bool others_write() const { return others_write_; }  // another process has written since loading
  size_t size() const { return verdicts_.size(); }

  // Null: there is none. Valid until the next call of refresh or add.
  const KnownVerdict* peek(const Hash128& key) const;
  // Those from before the viewpoint's begin, oldest first.
  std::vector<const KnownVerdict*> before() const;
  std::vector<const KnownVerdict*> fastest(size_t count) const;  // timed ones

 private:
  KnownVerdicts(Store& store, const Setting& setting, Viewpoint viewpoint, Recall recall)
      : store_(&store), setting_(setting), viewpoint_(std::move(viewpoint)), recall_(recall) {}
  Status read();
  void take(const Attempt& attempt, KnownVerdict::Origin origin);

  Store* store_;
  Setting setting_;
  Viewpoint viewpoint_;
  Recall recall_ = Recall::All;
  bool others_write_ = false;
  int64_t version_seen_ = 0;  // the version of the store written by others
  std::unordered_map<Hash128, KnownVerdict> verdicts_;
};

// The key of a candidate: its program, or, if it is illegal, the hash of its text.
Hash128 key_of_candidate(const Hash128& program, std::string_view trace);

}  // namespace tilewright::record
