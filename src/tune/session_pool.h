// SessionPool: sessions of several tasks, a few of them open at once. One that is not open is
// started when it is asked for, which makes the reference of its task anew; the one that was not
// used for longest is closed for it. Not to be shared between threads.
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
  SessionPool(record::Store& store, measure::SessionOptions options, size_t most_open = 3)
      : store_(store), options_(std::move(options)), most_open_(most_open) {}

  // Valid until the next call. `known` outlives the pool. An error says why the task cannot be
  // measured.
  Result<measure::Session*> open(const Task& task, record::KnownVerdicts& known);
  // How long `open` will take, by how long it took before.
  double opening_s(const Task& task) const;

  double cpus() const { return cpus_; }  // of the machine

  record::Store& store() { return store_; }
  const measure::SessionOptions& options() const { return options_; }
  size_t started() const { return started_; }

 private:
  record::Store& store_;
  measure::SessionOptions options_;
  size_t most_open_;
  size_t started_ = 0;
  double cpus_ = static_cast<double>(detect_machine().cpus.size());
  std::map<Hash128, double> took_s_;                          // to open it, the last time
  std::list<std::pair<Hash128, measure::Session>> sessions_;  // last used first
};

}  // namespace tilewright::tune
