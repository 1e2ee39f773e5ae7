#include "base/worker_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tilewright {
namespace {

TEST(WorkerTeam, RunsEachWorkerOncePerBatch) {
  for (const int threads : {1, 2, 5}) {
    WorkerTeam team(threads);
    EXPECT_EQ(team.threads(), threads);
    std::vector<int> calls(static_cast<size_t>(threads));
    for (int batch = 0; batch < 200; ++batch) {
      team.run([&](int worker) { ++calls[static_cast<size_t>(worker)]; });
    }
    for (const int count : calls) EXPECT_EQ(count, 200);
  }
}

TEST(WorkerTeam, RunReturnsAfterAllTasks) {
  WorkerTeam team(4);
  for (int batch = 0; batch < 50; ++batch) {
    std::atomic<size_t> next = 0;
    std::vector<int> done(1000);
    team.run([&](int) {
      for (size_t k = next++; k < done.size(); k = next++) ++done[k];
    });
    for (const int count : done) ASSERT_EQ(count, 1);
  }
}

TEST(WorkerTeam, DestroysIdleWorkers) { const WorkerTeam team(3); }

}  // namespace
}  // namespace tilewright
