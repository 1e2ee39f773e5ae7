/* The table of the optional x86-64 instructions that code may use, with their CPUID bits. It serves
 * targets (src/target) and the check of a compiled model for its processor. The bits are those of
 * CPUID (Intel's manual, volume 2) and of XCR0, the register states that the operating system
 * saves. */
#ifndef TILEWRIGHT_CPU_FEATURES_H_
#define TILEWRIGHT_CPU_FEATURES_H_

#include <stdint.h>
#include <string.h>

/* Words of CPUID. */
enum { Cpu1Ecx, Cpu7Ebx, Cpu7Ecx, Cpu7Edx, Cpu71Eax, CpuWords };

/* Required bits of XCR0. */
enum { CpuPlain = 0, CpuYmm = 0x6, CpuZmm = 0xe6, CpuTiles = 0x60000 };

/* ROW(enumerator of Feature, name, word, bit, states), in the order of the enumeration. */
#define TILEWRIGHT_CPU_FEATURES(ROW)                 \
  ROW(Sse42, "sse4.2", Cpu1Ecx, 20, CpuPlain)        \
  ROW(Avx, "avx", Cpu1Ecx, 28, CpuYmm)               \
  ROW(F16c, "f16c", Cpu1Ecx, 29, CpuYmm)             \
  ROW(Fma, "fma", Cpu1Ecx, 12, CpuYmm)               \
  ROW(Avx2, "avx2", Cpu7Ebx, 5, CpuYmm)              \
  ROW(AvxVnni, "avxvnni", Cpu71Eax, 4, CpuYmm)       \
  ROW(Avx512f, "avx512f", Cpu7Ebx, 16, CpuZmm)       \
  ROW(Avx512cd, "avx512cd", Cpu7Ebx, 28, CpuZmm)     \
  ROW(Avx512bw, "avx512bw", Cpu7Ebx, 30, CpuZmm)     \
  ROW(Avx512dq, "avx512dq", Cpu7Ebx, 17, CpuZmm)     \
  ROW(Avx512vl, "avx512vl", Cpu7Ebx, 31, CpuZmm)     \
  ROW(Avx512vbmi, "avx512vbmi", Cpu7Ecx, 1, CpuZmm)  \
  ROW(Avx512vnni, "avx512vnni", Cpu7Ecx, 11, CpuZmm) \
  ROW(Avx512bf16, "avx512bf16", Cpu71Eax, 5, CpuZmm) \
  ROW(Avx512fp16, "avx512fp16", Cpu7Edx, 23, CpuZmm) \
  ROW(AmxTile, "amx_tile", Cpu7Edx, 24, CpuTiles)    \
  ROW(AmxInt8, "amx_int8", Cpu7Edx, 25, CpuTiles)    \
  ROW(AmxBf16, "amx_bf16", Cpu7Edx, 22, CpuTiles)    \
  ROW(AmxFp16, "amx_fp16", Cpu71Eax, 21, CpuTiles)

#if defined(__x86_64__)
#include <cpuid.h>

/* Reads CPUID and XCR0 of this processor; 0 where they are not available. */
static inline void cpu_ask(uint32_t words[CpuWords], uint64_t* states) {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  memset(words, 0, sizeof(uint32_t) * CpuWords);
  *states = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    words[Cpu1Ecx] = ecx;
    if ((ecx >> 27 & 1) != 0) { /* the system has enabled xgetbv */
      uint32_t low = 0, high = 0;
      __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      *states = (uint64_t)high << 32 | low;
    }
  }
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    const uint32_t last = eax;
    words[Cpu7Ebx] = ebx;
    words[Cpu7Ecx] = ecx;
    words[Cpu7Edx] = edx;
    if (last >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) words[Cpu71Eax] = eax;
  }
}

#endif

#endif /* TILEWRIGHT_CPU_FEATURES_H_ */
