/* The float control of a thread: whether its float instructions flush denormals. With flushing, a
 * denormal operand counts as zero and a denormal result becomes zero, of the same sign; without,
 * both are kept, and on many processors an instruction that meets one takes a hundred times as
 * long. It is a register: MXCSR on x86-64, FPCR on aarch64, nothing elsewhere.
 *
 * Kernels are compiled for either. The runtime sets the float control around a call and restores
 * that of the caller; a pool that runs tasks of a kernel on other threads passes it on.
 *
 *   const uint64_t before = float_control_enter(0);
 *   status = kernel(&call);
 *   float_control_leave(before);
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_FLOAT_CONTROL_H_
#define TILEWRIGHT_RUNTIME_ABI_FLOAT_CONTROL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bits that flush denormals: flush-to-zero and denormals-are-zero; FPCR.FZ is both. */
#if defined(__x86_64__)
#define TILEWRIGHT_FLOAT_FLUSH ((uint64_t)0x8040)
#elif defined(__aarch64__)
#define TILEWRIGHT_FLOAT_FLUSH ((uint64_t)1 << 24)
#else
#define TILEWRIGHT_FLOAT_FLUSH ((uint64_t)0)
#endif

/* The whole register: also rounding, exception masks, and on x86-64 the exceptions so far. */
static inline uint64_t float_control(void) {
#if defined(__x86_64__)
  uint32_t word = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word;
#elif defined(__aarch64__)
  uint64_t word = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return word;
#else
  return 0;
#endif
}

static inline void float_control_set(uint64_t control) {
#if defined(__x86_64__)
  const uint32_t word = (uint32_t)control;
  __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
#else
  (void)control;
#endif
}

/* The flushing bits of the calling thread. */
static inline uint64_t float_control_mode(void) { return float_control() & TILEWRIGHT_FLOAT_FLUSH; }

/* Sets them to those bits of `mode`. */
static inline void float_control_set_mode(uint64_t mode) {
  float_control_set((float_control() & ~TILEWRIGHT_FLOAT_FLUSH) | (mode & TILEWRIGHT_FLOAT_FLUSH));
}

/* Sets the flushing bits to `mode`, a float_control_mode. Returns the register as it was, for
 * float_control_leave. */
static inline uint64_t float_control_enter_mode(uint64_t mode) {
  const uint64_t before = float_control();
  if ((before & TILEWRIGHT_FLOAT_FLUSH) != mode) float_control_set_mode(mode);
  return before;
}

/* The same: flushes denormals, or keeps them if `denormals` is not 0. */
static inline uint64_t float_control_enter(int32_t denormals) {
  return float_control_enter_mode(denormals != 0 ? 0 : TILEWRIGHT_FLOAT_FLUSH);
}

static inline void float_control_leave(uint64_t before) { float_control_set(before); }

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_FLOAT_CONTROL_H_ */
