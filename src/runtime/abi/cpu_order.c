/* See cpu_order.h. */
#include "runtime/abi/cpu_order.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file lists hardware threads in ascending order: `0,64` or `0-1`. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_core_of_cpu(const char* folder, int32_t cpu) {
  char text[256];
  const int length =
      snprintf(text, sizeof(text), "%s/cpu%d/topology/thread_siblings_list", folder, cpu);
  if (length < 0 || (size_t)length >= sizeof(text)) return cpu;
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return cpu;
  const ssize_t bytes = pread(file, text, sizeof(text), 0);
  close(file);
  int32_t core = 0;
  ssize_t digits = 0;
  for (; digits < bytes && digits < 9 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    core = core * 10 + (text[digits] - '0');
  }
  return digits > 0 ? core : cpu;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_order_cpus(const char* folder, int32_t* cpus,
                                                         int32_t count) {
  int32_t* cores = malloc(sizeof(*cores) * (size_t)count * 3);
  if (cores == NULL) return count;
  int32_t* ranks = cores + count; /* the number of earlier CPUs of the same core */
  int32_t* ordered = ranks + count;
  int32_t core_count = 0;
  int32_t filled = 0;
  for (int32_t k = 0; k < count; ++k) {
    cores[k] = tilewright_core_of_cpu(folder, cpus[k]);
    ranks[k] = 0;
    for (int32_t other = 0; other < k; ++other) ranks[k] += cores[other] == cores[k];
    core_count += ranks[k] == 0;
  }
  for (int32_t rank = 0; filled < count; ++rank) {
    for (int32_t k = 0; k < count; ++k) {
      if (ranks[k] == rank) ordered[filled++] = cpus[k];
    }
  }
  memcpy(cpus, ordered, sizeof(*cpus) * (size_t)count);
  free(cores);
  return core_count;
}
