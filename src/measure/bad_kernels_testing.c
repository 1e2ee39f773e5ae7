/* Faulty kernels for fault injection. They are loaded like any other kernel, so they have no
 * external references: system calls are made directly. All are for a matmul whose output, the last
 * of three arguments, has BAD_KERNEL_OUTPUT_FLOATS elements. */
#include "measure/bad_kernels_testing.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/abi/kernel_abi.h"

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static volatile float* output(const TilewrightCall* call) {
  return (volatile float*)call->arguments[2];
}

int32_t bad_write_behind(const TilewrightCall* call) {
  output(call)[BAD_KERNEL_OUTPUT_FLOATS + 2] = 1.0F;
  return 0;
}

int32_t bad_write_before(const TilewrightCall* call) {
  output(call)[-3] = 1.0F;
  return 0;
}

int32_t bad_write_far(const TilewrightCall* call) {
  for (int64_t k = 0; k < (int64_t)1 << 30; k += 256) output(call)[k] = 1.0F;
  return 0;
}

int32_t bad_write_input(const TilewrightCall* call) {
  ((volatile float*)call->arguments[0])[5] = 1.0F;
  return 0;
}

int32_t bad_write_before_input(const TilewrightCall* call) {
  ((volatile float*)call->arguments[0])[-1] = 1.0F;
  return 0;
}

int32_t bad_null(const TilewrightCall* call) {
  (void)call;
  volatile float* volatile nowhere = 0;
  *nowhere = 1.0F;
  return 0;
}

int32_t bad_divide(const TilewrightCall* call) {
  volatile int32_t zero = call->reserved & 0;
  return 1000003 / zero;
}

int32_t bad_instruction(const TilewrightCall* call) {
  (void)call;
  __asm__ volatile("ud2");
  return 0;
}

int32_t bad_abort(const TilewrightCall* call) {
  (void)call;
  const long pid = system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
  const long tid = system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
  system_call(SYS_tgkill, pid, tid, 6 /* SIGABRT */, 0, 0, 0);
  return 0;
}

int32_t bad_exit(const TilewrightCall* call) {
  (void)call;
  system_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
  return 0;
}

int32_t bad_loop(const TilewrightCall* call) {
  (void)call;
  for (;;) __asm__ volatile("pause");
}

int32_t bad_sleep(const TilewrightCall* call) {
  (void)call;
  for (;;) system_call(SYS_pause, 0, 0, 0, 0, 0, 0);
}

/* A second of one thread, in chunks of a 16th of the part of a thread. */
static void sleep_a_millisecond(void* context, int64_t iteration, int32_t worker) {
  const int64_t duration[2] = {0, 1000000}; /* a timespec */
  (void)context, (void)iteration, (void)worker;
  system_call(SYS_nanosleep, (long)duration, 0, 0, 0, 0, 0);
}

int32_t bad_parallel_sleep(const TilewrightCall* call) {
  return tilewright_parallel_for(call->pool, call->threads, 1024, sleep_a_millisecond, 0) != 0
             ? TILEWRIGHT_STATUS_PARALLEL_FAILED
             : TILEWRIGHT_STATUS_OK;
}

/* Allocates memory until there is none left, then uses the failed allocation. */
int32_t bad_memory(const TilewrightCall* call) {
  (void)call;
  for (;;) {
    const long got = system_call(SYS_mmap, 0, 1L << 28, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | 0x20 /* MAP_ANONYMOUS */, -1, 0);
    *(volatile char*)got = 1;  // NOLINT(performance-no-int-to-ptr): that is what the kernel gives
  }
}

int32_t bad_result(const TilewrightCall* call) {
  for (int64_t k = 0; k < BAD_KERNEL_OUTPUT_FLOATS; ++k) output(call)[k] = 12345.0F;
  return 0;
}

int32_t bad_nothing(const TilewrightCall* call) {
  (void)call;
  return 0;
}

int32_t bad_status(const TilewrightCall* call) {
  (void)call;
  return 7;
}
