/* Whether this machine has the instructions that a model was made for. The names are those of
 * targets (src/target/feature.cc); the bits are of Intel's manual, volume 2, CPUID, and of XCR0,
 * the register states that the operating system saves. */
#include "runtime/abi/model_table.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Words of CPUID. */
enum { kCpu1Ecx, kCpu7Ebx, kCpu7Ecx, kCpu7Edx, kCpu71Eax, kCpuWords };

/* What XCR0 must have. */
enum { kCpuPlain = 0, kCpuYmm = 0x6, kCpuZmm = 0xe6, kCpuTiles = 0x60000 };

typedef struct CpuFeature {
  const char* name;
  int32_t word;
  int32_t bit;
  uint32_t states;
} CpuFeature;

static const CpuFeature cpu_features[] = {
    {"sse4.2", kCpu1Ecx, 20, kCpuPlain},    {"avx", kCpu1Ecx, 28, kCpuYmm},
    {"f16c", kCpu1Ecx, 29, kCpuYmm},        {"fma", kCpu1Ecx, 12, kCpuYmm},
    {"avx2", kCpu7Ebx, 5, kCpuYmm},         {"avxvnni", kCpu71Eax, 4, kCpuYmm},
    {"avx512f", kCpu7Ebx, 16, kCpuZmm},     {"avx512cd", kCpu7Ebx, 28, kCpuZmm},
    {"avx512bw", kCpu7Ebx, 30, kCpuZmm},    {"avx512dq", kCpu7Ebx, 17, kCpuZmm},
    {"avx512vl", kCpu7Ebx, 31, kCpuZmm},    {"avx512vbmi", kCpu7Ecx, 1, kCpuZmm},
    {"avx512vnni", kCpu7Ecx, 11, kCpuZmm},  {"avx512bf16", kCpu71Eax, 5, kCpuZmm},
    {"avx512fp16", kCpu7Edx, 23, kCpuZmm},  {"amx_tile", kCpu7Edx, 24, kCpuTiles},
    {"amx_int8", kCpu7Edx, 25, kCpuTiles},  {"amx_bf16", kCpu7Edx, 22, kCpuTiles},
    {"amx_fp16", kCpu71Eax, 21, kCpuTiles},
};

static void cpu_ask(uint32_t words[kCpuWords], uint64_t* states) {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  memset(words, 0, sizeof(uint32_t) * kCpuWords);
  *states = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    words[kCpu1Ecx] = ecx;
    if ((ecx >> 27 & 1) != 0) { /* the system has enabled xgetbv */
      uint32_t low = 0, high = 0;
      __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      *states = (uint64_t)high << 32 | low;
    }
  }
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    const uint32_t last = eax;
    words[kCpu7Ebx] = ebx;
    words[kCpu7Ecx] = ecx;
    words[kCpu7Edx] = edx;
    if (last >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) words[kCpu71Eax] = eax;
  }
}

static int cpu_has(const char* name, size_t length, const uint32_t words[kCpuWords],
                   uint64_t states) {
  for (size_t k = 0; k < sizeof(cpu_features) / sizeof(cpu_features[0]); ++k) {
    const CpuFeature* feature = &cpu_features[k];
    if (strlen(feature->name) != length || memcmp(feature->name, name, length) != 0) continue;
    return (words[feature->word] >> feature->bit & 1) != 0 &&
           (states & feature->states) == feature->states;
  }
  return 0;
}

TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_missing_feature(const char* features) {
  uint32_t words[kCpuWords];
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
