// Several processes, and processes that end at the wrong moment.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include "record/check.h"
#include "record/record_testing.h"
#include "record/store.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests

const char* const kMatmul = "matmul:m=16,n=16,k=16";

pid_t start(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 98;
    try {
      code = body();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    ::_exit(code);
  }
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

// Attempts of a writer: no two writers have one in common.
Attempt attempt_of(const Task& task, int writer, int k) {
  return timed(task, int64_t{1000} * writer + k);
}

TEST(Processes, ConcurrentWriters) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  constexpr int kWriters = 4;
  constexpr int kEach = 200;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(start([&, writer] {
      Store store = store_with(folder / "a.db", task);  // created by the first process
      for (int k = 0; k < kEach; k += 4) {
        std::vector<Attempt> group;
        for (int j = k; j < k + 4; ++j) group.push_back(attempt_of(task, writer, j));
        must(store.append(group));
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  Store store = must(Store::open(folder / "a.db"));
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int k = 0; k < kEach; ++k) {
      const Attempt attempt = attempt_of(task, writer, k);
      ASSERT_EQ(must(store.find_attempt(attempt.id())), attempt);
    }
  }
  const CheckReport report = must(check(store));
  EXPECT_TRUE(report.clean()) << report.problems[0];
  EXPECT_EQ(report.attempts, kWriters * kEach);
}

TEST(Processes, VerdictsOfAKilledWriterAreStored) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  store_with(folder / "a.db", task);
  Rng rng(5);
  int reported = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = start([&] {
      Store store = must(Store::open(folder / "a.db"));
      for (int k = 0;; ++k) {
        const Attempt attempt = attempt_of(task, round, k);
        must(store.append({&attempt, 1}));
        if (::write(ends[1], &k, sizeof k) != sizeof k) return 1;
      }
    });
    ::close(ends[1]);
    int last = -1;
    const auto wanted = static_cast<int>(rng.below(40));
    for (int k = 0; last < wanted && ::read(ends[0], &k, sizeof k) == sizeof k; last = k) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(3000)));
    ::kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), 256 + SIGKILL);
    for (int k = 0; ::read(ends[0], &k, sizeof k) == sizeof k; last = k) {
    }
    ::close(ends[0]);
    Store store = must(Store::open(folder / "a.db"));
    for (int k = 0; k <= last; ++k) {
      ASSERT_TRUE(must(store.find_attempt(attempt_of(task, round, k).id())).has_value());
    }
    reported += last + 1;
  }
  EXPECT_GT(reported, 0);
  Store store = must(Store::open(folder / "a.db"));
  const CheckReport report = must(check(store));
  EXPECT_TRUE(report.clean()) << report.problems[0];
  EXPECT_GE(report.attempts, reported);
}

// A limit on the size of files emulates a full disk: writes fail halfway.
TEST(Processes, FullDiskLosesNoReportedVerdict) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  store_with(folder / "a.db", task);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = start([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 300'000, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Store store = must(Store::open(folder / "a.db"));
    int k = 0;
    for (; k < 5000; ++k) {
      const Attempt attempt = attempt_of(task, 0, k);
      if (const Status status = store.append({&attempt, 1}); !status) {
        if (status.error().kind != ErrorKind::Io) return 1;
        break;
      }
      if (::write(ends[1], &k, sizeof k) != sizeof k) return 2;
    }
    if (k == 5000) return 3;  // there was no limit
    // The store is as before the call that failed, and works once there is room.
    if (must(store.find_attempt(attempt_of(task, 0, k).id()))) return 4;
    if (!must(store.find_attempt(attempt_of(task, 0, k - 1).id()))) return 5;
    const rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &none);
    const Attempt attempt = attempt_of(task, 0, k);
    must(store.append({&attempt, 1}));
    return ::write(ends[1], &k, sizeof k) == sizeof k ? 0 : 6;
  });
  ::close(ends[1]);
  int last = -1;
  for (int k = 0; ::read(ends[0], &k, sizeof k) == sizeof k; last = k) {
  }
  ::close(ends[0]);
  EXPECT_EQ(wait_for(child), 0);
  ASSERT_GT(last, 0);
  Store store = must(Store::open(folder / "a.db"));
  for (int k = 0; k <= last; ++k) {
    ASSERT_TRUE(must(store.find_attempt(attempt_of(task, 0, k).id())).has_value());
  }
  EXPECT_TRUE(must(check(store)).clean());
}

}  // namespace
}  // namespace tilewright::record
