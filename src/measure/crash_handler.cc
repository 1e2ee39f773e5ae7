#include "measure/crash_handler.h"

#include <sys/ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "base/check.h"
#include "base/system_error.h"
#include "measure/guarded_memory.h"
#include "runtime/abi/thread_pool.h"

namespace tilewright::measure {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr size_t kStackBytes = size_t{64} << 10;

StatusBlock* block = nullptr;
std::atomic<bool> dying{false};
std::atomic<bool> cancels_first{false};  // the next expiry of the timer cancels loops
std::atomic<bool> loops_cancelled{false};
timer_t timer;
pid_t timer_owner = 0;  // timers are not inherited
double timeout_written_ns = 0;
char timeout_text[64];  // describes the timeout; written before the timer is armed
alignas(64) char handler_stack[kStackBytes];

const char* reason_of(int signal, int code) {
  if (signal == SIGFPE) {
    return code == FPE_INTDIV ? "integer division by zero" : "arithmetic fault";
  }
  if (signal == SIGILL) return "illegal instruction";
  if (signal == SIGABRT) return "abort";
  if (signal == SIGTRAP) return "trap";
  return "bad system call";
}

bool was_write(const void* context) {
  constexpr int64_t kWrite = 2;  // bit 1 of a page fault's error code
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
}

// A general protection fault (an address beyond 47 bits) has no address.
bool has_address(int signal, const siginfo_t& info) {
  return (signal == SIGSEGV && info.si_code != SI_KERNEL) || signal == SIGBUS;
}

void note(int signal, const siginfo_t& info, const void* context) {
  block->signal = signal;
  if (!has_address(signal, info)) {
    return set_detail(*block, signal == SIGSEGV ? "access to a non-canonical address"
                                                : reason_of(signal, info.si_code));
  }
  char text[sizeof block->detail];
  const size_t length = describe_address(reinterpret_cast<uintptr_t>(info.si_addr),
                                         was_write(context), text, sizeof text);
  set_detail(*block, {text, length});
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (dying.exchange(true)) {
    while (true) pause();  // another thread is handling a fault
  }
  note(signal, *info, context);
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);  // delivered when this returns
}

void on_timeout(int) {
  if (cancels_first.exchange(false)) {
    loops_cancelled = true;
    tilewright_cancel_loops(1);
    return;
  }
  if (dying.exchange(true)) return;
  block->timed_out = 1;
  set_detail(*block, timeout_text);
  _exit(kTimedOutExit);
}

timespec duration_of(double ns) {
  const auto whole = static_cast<int64_t>(ns);
  return {.tv_sec = whole / 1'000'000'000, .tv_nsec = whole % 1'000'000'000};
}

// Expires after `ns`, and again `again_ns` later. 0: not at all, or not again.
void set_timer(double ns, double again_ns = 0) {
  const itimerspec when{.it_interval = duration_of(again_ns), .it_value = duration_of(ns)};
  timer_settime(timer, 0, &when, nullptr);
}

}  // namespace

void install_crash_handler(StatusBlock& status) {
  block = &status;
  dying = false;
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  CHECK(sigaltstack(&stack, nullptr) == 0, "sigaltstack: {}", system_reason(errno));
  struct sigaction fault{};
  fault.sa_sigaction = on_fault;
  fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kSignals) sigaction(signal, &fault, nullptr);
  struct sigaction late{};
  late.sa_handler = on_timeout;
  late.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &late, nullptr);
  if (timer_owner == getpid()) return;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create: {}",
        system_reason(errno));
  timer_owner = getpid();
}

TimeLimit::TimeLimit(double timeout_ns, double cancel_ns) : armed_(timeout_ns > 0) {
  if (!armed_) return;
  if (timeout_ns != timeout_written_ns) {
    std::snprintf(timeout_text, sizeof timeout_text, "ran longer than %.4g ms", timeout_ns * 1e-6);
    timeout_written_ns = timeout_ns;
  }
  if (cancel_ns > 0 && cancel_ns < timeout_ns) {
    cancels_first = true;
    set_timer(std::max(cancel_ns, 1.0), std::max(timeout_ns - cancel_ns, 1.0));
  } else {
    set_timer(std::max(timeout_ns, 1.0));
  }
}

TimeLimit::~TimeLimit() {
  if (!armed_) return;
  set_timer(0);
  cancels_first = false;
  if (loops_cancelled.exchange(false)) tilewright_cancel_loops(0);
}

bool TimeLimit::cancelled() const { return loops_cancelled; }

}  // namespace tilewright::measure
