/* Checks that this machine has the instructions that a model was compiled for. */
#include "runtime/abi/cpu_features.h"

#include "runtime/abi/model_table.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

typedef struct CpuFeature {
  const char* name;
  int32_t word;
  int32_t bit;
  uint32_t states;
} CpuFeature;

#define CPU_ROW(feature, name, word, bit, states) {name, word, bit, states},
static const CpuFeature kCpuFeatures[] = {TILEWRIGHT_CPU_FEATURES(CPU_ROW)};

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
