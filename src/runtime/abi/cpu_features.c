/* Whether this machine has the instructions that a model was made for. The names are those of
 * targets (src/target/feature.cc); the bits are of Intel's manual, volume 2, CPUID, and of XCR0,
 * the register states that the operating system saves. */
#include "runtime/abi/model_table.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Words of CPUID. */
enum { Cpu1Ecx, Cpu7Ebx, Cpu7Ecx, Cpu7Edx, Cpu71Eax, CpuWords };

/* What XCR0 must have. */
enum { CpuPlain = 0, CpuYmm = 0x6, CpuZmm = 0xe6, CpuTiles = 0x60000 };

typedef struct CpuFeature {
  const char* name;
  int32_t word;
  int32_t bit;
  uint32_t states;
} CpuFeature;

static const CpuFeature kCpuFeatures[] = {
    {"sse4.2", Cpu1Ecx, 20, CpuPlain},    {"avx", Cpu1Ecx, 28, CpuYmm},
    {"f16c", Cpu1Ecx, 29, CpuYmm},        {"fma", Cpu1Ecx, 12, CpuYmm},
    {"avx2", Cpu7Ebx, 5, CpuYmm},         {"avxvnni", Cpu71Eax, 4, CpuYmm},
    {"avx512f", Cpu7Ebx, 16, CpuZmm},     {"avx512cd", Cpu7Ebx, 28, CpuZmm},
    {"avx512bw", Cpu7Ebx, 30, CpuZmm},    {"avx512dq", Cpu7Ebx, 17, CpuZmm},
    {"avx512vl", Cpu7Ebx, 31, CpuZmm},    {"avx512vbmi", Cpu7Ecx, 1, CpuZmm},
    {"avx512vnni", Cpu7Ecx, 11, CpuZmm},  {"avx512bf16", Cpu71Eax, 5, CpuZmm},
    {"avx512fp16", Cpu7Edx, 23, CpuZmm},  {"amx_tile", Cpu7Edx, 24, CpuTiles},
    {"amx_int8", Cpu7Edx, 25, CpuTiles},  {"amx_bf16", Cpu7Edx, 22, CpuTiles},
    {"amx_fp16", Cpu71Eax, 21, CpuTiles},
};

static void cpu_ask(uint32_t words[CpuWords], uint64_t* states) {
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

static int cpu_has(const char* name, size_t length, const uint32_t words[CpuWords],
                   uint64_t states) {
  for (size_t k = 0; k < sizeof(kCpuFeatures) / sizeof(kCpuFeatures[0]); ++k) {
    const CpuFeature* feature = &kCpuFeatures[k];
    if (strlen(feature->name) != length || memcmp(feature->name, name, length) != 0) continue;
    return (words[feature->word] >> feature->bit & 1) != 0 &&
           (states & feature->states) == feature->states;
  }
  return 0;
}

TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_missing_feature(const char* features) {
  uint32_t words[CpuWords];
  uint64_t states = 0;
  cpu_ask(words, &states);
  while (*features != '\0') {
    const size_t length = strcspn(features, ",");
    if (length != 0 && !cpu_has(features, length, words, states)) return features;
    features += length;
    if (*features == ',') ++features;
  }
  return NULL;
}

#else

TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_missing_feature(const char* features) {
  return *features != '\0' ? features : NULL;
}

#endif
