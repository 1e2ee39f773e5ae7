#include "tune/trajectory.h"

#include <algorithm>

#include "base/clock.h"
#include "base/random_id.h"

namespace tilewright::tune {

bool Trajectory::has_completed(const Budget& budget) const {
  return std::ranges::any_of(completed, [&](const Budget& one) {
    return (budget.trials > 0 && one.trials >= budget.trials) ||
           (budget.seconds > 0 && one.seconds >= budget.seconds);
  });
}

Status record_completed(record::Store& store, const Trajectory& trajectory, const Budget& budget) {
  return store.put_run({.id = random_id(),
                        .start_us = time_of_day_us(),
                        .command = trajectory.command,
                        .version = trajectory.version},
                       trajectory.key, {.trials = budget.trials, .seconds = budget.seconds});
}

Result<Trajectory> enter_trajectory(record::Store& store, Hash128 key, const std::string& command,
                                    const std::string& version) {
  Trajectory trajectory{
      .key = key, .command = command, .version = version, .begin_us = time_of_day_us()};
  const record::StoredTrajectory stored = TRY(store.find_trajectory(key));
  for (const record::Run& run : stored.runs) {
    trajectory.runs.insert(run.id);
    trajectory.begin_us = std::min(trajectory.begin_us, run.start_us);
  }
  for (const record::CompletedBudget& one : stored.completed) {
    trajectory.completed.push_back({.trials = one.trials, .seconds = one.seconds});
  }
  if (!trajectory.is_new()) return trajectory;
  TRY(store.put_run(
      {.id = random_id(), .start_us = trajectory.begin_us, .command = command, .version = version},
      key));
  return trajectory;
}

}  // namespace tilewright::tune
