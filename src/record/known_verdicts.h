// KnownVerdicts: which programs of one setting have a verdict, and which of several verdicts
// counts. This is the one place where "is it known?" is asked. A program with a verdict here is
// never measured again.
//
// `find` looks at the store again when another process has written to it since. So two processes
// on one store see each other's verdicts before each build and each run.
//
// Of several verdicts of one program, as a viewpoint sees them:
//
//   1. the first one of its own runs;
//   2. else the last one from before it began;
//   3. else the first one from afterwards.
//
// No verdict that somebody adds later changes the answer, so that a search that is walked again
// gets the answers that it got before. Without a viewpoint everything is from before: the last
// counts.
//
// Failures of kind Device say nothing of a program and are left out. Illegal candidates have no
// program; their key is the hash of their text.
//
// Not to be shared between threads. The store outlives it.
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

class KnownVerdicts {
 public:
  // `blank`: nothing of before is known, and nothing of others will be (`--force`).
  static Result<KnownVerdicts> load(Store& store, const Setting& setting, Viewpoint viewpoint = {},
                                    bool blank = false);

  // Null: it has none. Valid until the next call of find or add.
  Result<const KnownVerdict*> find(const Hash128& key);
  void add(const Attempt& attempt);  // that this process has put into the store

  const Setting& setting() const { return setting_; }
  bool others_write() const { return others_write_; }  // since it was loaded
  size_t size() const { return verdicts_.size(); }

  const KnownVerdict* peek(const Hash128& key) const;  // without another look at the store
  std::vector<const KnownVerdict*> before() const;     // the viewpoint's begin, oldest first
  std::vector<const KnownVerdict*> fastest(size_t count) const;  // timed

 private:
  KnownVerdicts(Store& store, const Setting& setting, Viewpoint viewpoint, bool blank)
      : store_(&store), setting_(setting), viewpoint_(std::move(viewpoint)), blank_(blank) {}
  Status read();
  void take(const Attempt& attempt, KnownVerdict::Origin origin);

  Store* store_;
  Setting setting_;
  Viewpoint viewpoint_;
  bool blank_ = false;
  bool others_write_ = false;
  int64_t version_seen_ = 0;  // of the store, as others have left it
  std::unordered_map<Hash128, KnownVerdict> verdicts_;
};

// What a candidate is found by: its program, or its text where it is illegal.
Hash128 key_of_candidate(const Hash128& program, std::string_view trace);

}  // namespace tilewright::record
