// SessionPool: the measuring sessions of several tasks, of which a few are open at a time. Opening
// a session computes the reference of its task; the least recently used session is closed to make
// room. Not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "base/result.h"
#include "measure/session.h"
#include "target/machine.h"

namespace tilewright::tune {

class SessionPool {
 public:
  // `store` outlives the pool.
  SessionPool(record::Store& store, measure::SessionOptions options, size_t max_open = 3)
      : store_(store), options_(std::move(options)), max_open_(max_open) {}

  // The pointer is valid until the next call. `known` outlives the pool. An error says why the task
  // cannot be measured.
  Result<measure::Session*> open(const Task& task, record::KnownVerdicts& known);
  // Estimate of the time that `open` will take, from the last time.
  double opening_s(const Task& task) const;

  double cpus() const { return cpus_; }  // CPUs of the machine

  record::Store& store() { return store_; }
  const measure::SessionOptions& options() const { return options_; }
  size_t started() const { return started_; }

 private:
  record::Store& store_;
  measure::SessionOptions options_;
  size_t max_open_;
  size_t started_ = 0;
  double cpus_ = static_cast<double>(detect_machine().cpus.size());
  std::map<Hash128, double> took_s_;                          // duration of the last `open`
  std::list<std::pair<Hash128, measure::Session>> sessions_;  // most recently used first
};

}  // namespace tilewright::tune
