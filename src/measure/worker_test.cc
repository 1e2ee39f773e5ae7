#include "measure/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "measure/worker_pool.h"

namespace tilewright::measure {
namespace {

// More than a socket holds.
const std::string kLarge(size_t{16} << 20, 'x');

// A program that never reads its socket.
WorkerPolicy sleeping() { return {.process = {.program = "/bin/sleep", .cpu = 0}}; }

// Polls as a pool does. Returns the first event or error.
Result<WorkerEvent> outcome_of(Worker& worker) {
  while (true) {
    std::optional<WorkerEvent> event = TRY(worker.poll());
    if (event) return *std::move(event);
    pollfd waiting{.fd = worker.fd(), .events = worker.events(), .revents = 0};
    poll(&waiting, 1, 20);
  }
}

TEST(Worker, UnresponsiveWorkerMissesTheDeadline) {
  Result<Worker> worker = Worker::start(sleeping(), "a task");
  ASSERT_TRUE(worker) << worker.error().message;
  worker->submit(kLarge, 0.1);  // does not wait
  EXPECT_TRUE(worker->busy());
  // The job goes to the next process while none has received its task.
  const Result<WorkerEvent> outcome = outcome_of(*worker);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, testing::HasSubstr("does not start"));
}

TEST(Worker, UnresponsiveWorkerCanBeAbandoned) {
  Result<Worker> worker = Worker::start(sleeping(), kLarge);
  ASSERT_TRUE(worker) << worker.error().message;
  worker->submit(kLarge, 1000);
  EXPECT_NE(worker->events() & POLLOUT, 0);
  const int before = worker->pid();
  ASSERT_TRUE(worker->abandon());
  EXPECT_FALSE(worker->busy());
  EXPECT_NE(worker->pid(), before);
}

// `cat` of the socket to itself: the frames come back as they were sent.
TEST(WorkerProcess, ALargeMessageArrivesInParts) {
  Result<WorkerProcess> process =
      WorkerProcess::start({.program = TILEWRIGHT_ECHO_WORKER, .cpu = 0, .memory = 0});
  ASSERT_TRUE(process) << process.error().message;
  process->send("first");
  process->send(kLarge);
  std::vector<std::string> replies;
  while (replies.size() < 2) {
    Result<std::optional<std::string>> reply = process->receive();
    ASSERT_TRUE(reply) << reply.error().message << process->stderr_tail();
    if (*reply) {
      replies.push_back(**std::move(reply));
      continue;
    }
    pollfd waiting{.fd = process->fd(), .events = process->events(), .revents = 0};
    poll(&waiting, 1, 1000);
  }
  EXPECT_EQ(replies[0], "first");
  EXPECT_EQ(replies[1], kLarge);
  EXPECT_EQ(process->events(), POLLIN);
}

TEST(WorkerPool, BuildsOnlyOnCoresWithoutAThreadOfTheKernel) {
  const std::vector<int> whole = {0, 1, 2, 3}, halves = {0, 2, 0, 2};
  using Each = std::vector<bool>;
  EXPECT_EQ(undisturbing(whole, 1), Each({false, true, true, true}));
  EXPECT_EQ(undisturbing(whole, 3), Each({false, false, false, true}));
  EXPECT_EQ(undisturbing(halves, 1), Each({false, true, false, true}));
  EXPECT_EQ(undisturbing(halves, 2), Each({false, false, false, false}));
  EXPECT_EQ(undisturbing(halves, 9), Each({false, false, false, false}));
}

}  // namespace
}  // namespace tilewright::measure
