// Donors: selects the schedules that a search begins with (tune/carry.h): the fastest ones of tasks
// of the same structure or core (task/similarity.h) for the same instructions. They come from the
// store, measured before the trajectory began, and from tasks of the same run. Both are the same
// when a trajectory is replayed. The schedules name the operators of the task that they are for.
//
// Order: tasks with the same structure and extents first, above all the task itself. Then tasks
// measured on this machine with as many threads, by the distance of the extents; another structure
// with the same core counts as a doubling. The fastest schedule of each task precedes the second
// fastest of any. Latencies of different machines, protocols or code
// generators are not compared: those of the preferred setting come first.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "record/store.h"
#include "task/similarity.h"
#include "task/workload.h"
#include "tune/carry.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

// A task of the same run and the fastest schedules of its completed rounds.
struct Sibling {
  const Task* task = nullptr;
  std::span<const Best> fastest{};
};

// Reads a task of the store once, however many searches it serves. Not thread-safe.
class Donors {
 public:
  static constexpr size_t kPerTask = kKeptFastest;  // schedules of a donor
  static constexpr size_t kMaxStored = 16;          // donors of the store, the nearest
  static constexpr size_t kMaxDonations = 24;

  // Without a store, only siblings donate. The store outlives it.
  Donors(record::Store* store, const record::Setting& setting, int64_t before_us)
      : store_(store), setting_(setting), before_us_(before_us) {}

  // The task itself may donate too, from the store.
  Result<std::vector<Donation>> donations_for(const Task& task, std::span<const Sibling> siblings);

 private:
  struct Known {
    Hash128 key;
    Target target;
    std::shared_ptr<const te::Dag> dag;
    WorkloadForm form;
    bool is_read = false;
    bool is_here = false;  // measured on this machine
    std::vector<schedule::Trace> fastest{};
  };

  Status list_tasks();
  Status read(Known* known);

  record::Store* store_;
  record::Setting setting_;  // its task is not used
  int64_t before_us_ = 0;
  bool listed_ = false;
  std::vector<Known> known_;
};

}  // namespace tilewright::tune
