// The record of a crash on any thread, and that the process dies of the original signal.
#include "measure/crash_handler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/sanitizer.h"
#include "measure/forked_testing.h"
#include "runtime/abi/thread_pool.h"

namespace tilewright::measure {
namespace {

void read_null() { __asm__ volatile("xorl %%eax, %%eax\n movl (%%rax), %%eax" : : : "rax"); }
void divide_by_zero() {
  int quotient = 1;
  __asm__ volatile("xorl %%ecx, %%ecx\n cltd\n idivl %%ecx" : "+a"(quotient) : : "ecx", "edx");
}
void overflow_the_stack() {
  volatile char frame[65536];
  frame[0] = 1;
  if (frame[0] == 1) overflow_the_stack();
  frame[1] = frame[0];
}

struct Case {
  const char* name;
  void (*body)();
  int signal;
  const char* detail;  // how it begins
};

const Case kCases[] = {
    {"null", read_null, SIGSEGV, "read at address 0x0"},
    {"null on another thread", [] { std::thread(read_null).join(); }, SIGSEGV,
     "read at address 0x0"},
    {"no address",
     [] {
       __asm__ volatile("movq $-0x123456789abc, %%rax\n movq (%%rax), %%rax" : : : "rax");
     },
     SIGSEGV, ""},
    {"division", divide_by_zero, SIGFPE, "integer division by zero"},
    {"illegal", [] { __asm__ volatile("ud2"); }, SIGILL, "illegal instruction"},
    {"abort", [] { std::abort(); }, SIGABRT, "abort"},
    {"trap", [] { __asm__ volatile("int3"); }, SIGTRAP, "trap"},
    {"stack", overflow_the_stack, SIGSEGV, "write at address 0x"},
};

// With the thread sanitizer, a timer's signal also waits for the next library call.
constexpr bool kThreadsAfterFork = !kThreadSanitizer, kTimersInterrupt = !kThreadSanitizer;

TEST(CrashHandler, RecordsSignalAndReason) {
  for (const Case& one : kCases) {
    if (!kThreadsAfterFork && std::string_view(one.name).ends_with("thread")) continue;
    SCOPED_TRACE(one.name);
    const Death death = run_forked(one.body);
    EXPECT_EQ(death.signal, one.signal);
    EXPECT_EQ(death.status.signal, one.signal);
    EXPECT_TRUE(detail_text(death.status).starts_with(one.detail)) << detail_text(death.status);
    EXPECT_EQ(death.status.timed_out, 0);
  }
}

TEST(CrashHandler, KillsTheProcessAtTheDeadline) {
  if (!kTimersInterrupt) GTEST_SKIP() << "the thread sanitizer holds signals back";
  const Death death = run_forked([] {
    const TimeLimit limit(20e6);
    while (true) __asm__ volatile("pause");
  });
  EXPECT_EQ(death.signal, 0);
  EXPECT_EQ(death.exit_code, kTimedOutExit);
  EXPECT_EQ(death.status.timed_out, 1);
  EXPECT_EQ(detail_text(death.status), "ran longer than 20 ms");
}

// The first stage cancels loops, which then fail; after the limit they run again.
TEST(CrashHandler, CancelsLoopsThatRunTooLong) {
  if (!kTimersInterrupt) GTEST_SKIP() << "the thread sanitizer holds signals back";
  const Death death = run_forked([] {
    const auto wait = [](void*, int64_t, int32_t) { __asm__ volatile("pause"); };
    {
      const TimeLimit limit(100e9, 20e6);
      if (limit.cancelled()) _exit(1);
      if (tilewright_parallel_for(nullptr, 1, int64_t{1} << 60, wait, nullptr) == 0) _exit(2);
      if (!limit.cancelled()) _exit(3);
    }
    const TimeLimit next(100e9, 50e9);
    if (next.cancelled()) _exit(4);
    if (tilewright_parallel_for(nullptr, 1, 1, wait, nullptr) != 0) _exit(5);
  });
  EXPECT_EQ(death.signal, 0);
  EXPECT_EQ(death.exit_code, 0);
  EXPECT_EQ(death.status.timed_out, 0);
}

TEST(CrashHandler, EndsWhatCancellingDoesNotEnd) {
  if (!kTimersInterrupt) GTEST_SKIP() << "the thread sanitizer holds signals back";
  const Death death = run_forked([] {
    const TimeLimit limit(40e6, 20e6);
    while (true) __asm__ volatile("pause");
  });
  EXPECT_EQ(death.exit_code, kTimedOutExit);
  EXPECT_EQ(death.status.timed_out, 1);
  EXPECT_EQ(detail_text(death.status), "ran longer than 40 ms");
}

TEST(CrashHandler, DisarmsTheDeadlineOnReturn) {
  const Death death = run_forked([] {
    for (const double timeout_ns : {0., 5e8, 5e8}) const TimeLimit limit(timeout_ns);
    usleep(700000);
  });
  EXPECT_EQ(death.signal, 0);
  EXPECT_EQ(death.exit_code, 0);
  EXPECT_EQ(death.status.timed_out, 0);
}

}  // namespace
}  // namespace tilewright::measure
