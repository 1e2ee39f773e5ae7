/* A program as a user would write it: opens a shared library with one kernel, allocates its memory
 * and times calls. It links no code of this repository; the interface is runtime/abi/kernel_abi.h.
 *
 *   deploy_caller MEMORY LIBRARY SYMBOL THREADS WORKSPACE OPERAND...
 *
 * MEMORY is plain (aligned_alloc) or huge (the same, with huge pages requested). OPERAND is a file
 * with the bytes of an input, or `:BYTES` for an output. Each line `slice SECONDS` on stdin is
 * answered by a line `NANOSECONDS SAMPLES`: the lowest tenth of samples of one call, or of as many
 * as take 50 us.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/abi/kernel_abi.h"

enum { MostOperands = 64, MostSamples = 1 << 20 };

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void die(const char* what, const char* detail) {
  fprintf(stderr, "deploy_caller: %s: %s\n", what, detail);
  exit(1);
}

static void* allocate(size_t bytes, int huge) {
  const size_t alignment = huge && bytes >= (2u << 20) ? (2u << 20) : 64;
  const size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = aligned_alloc(alignment, rounded);
  if (memory == NULL) die("no memory", "aligned_alloc");
  if (alignment > 64) madvise(memory, rounded, MADV_HUGEPAGE);
  memset(memory, 0, rounded);
  return memory;
}

static void* read_operand(const char* path, int huge) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) die("cannot open", path);
  if (fseek(file, 0, SEEK_END) != 0) die("cannot seek", path);
  const size_t bytes = (size_t)ftell(file);
  if (fseek(file, 0, SEEK_SET) != 0) die("cannot seek", path);
  void* memory = allocate(bytes, huge);
  if (fread(memory, 1, bytes, file) != bytes) die("cannot read", path);
  fclose(file);
  return memory;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef int32_t (*Kernel)(const TilewrightCall*);

static double time_calls(Kernel kernel, const TilewrightCall* call, long calls) {
  const double start = now_ns();
  for (long k = 0; k < calls; ++k) {
    if (kernel(call) != TILEWRIGHT_STATUS_OK) die("the kernel failed", "status");
  }
  return (now_ns() - start) / (double)calls;
}

int main(int count, char** words) {
  if (count < 6 || count - 6 > MostOperands) die("usage", "see the top of this file");
  const int huge = strcmp(words[1], "huge") == 0;
  void* library = dlopen(words[2], RTLD_NOW);
  if (library == NULL) die("cannot open", dlerror());
  Kernel kernel;
  *(void**)&kernel = dlsym(library, words[3]);
  if (kernel == NULL) die("no such symbol", words[3]);
  void* arguments[MostOperands];
  for (int k = 6; k < count; ++k) {
    arguments[k - 6] = words[k][0] == ':' ? allocate(strtoul(words[k] + 1, NULL, 10), huge)
                                          : read_operand(words[k], huge);
  }
  const size_t workspace = strtoul(words[5], NULL, 10);
  const TilewrightCall call = {.arguments = arguments,
                               .workspace = workspace > 0 ? allocate(workspace, huge) : NULL,
                               .pool = NULL,
                               .threads = atoi(words[4]),
                               .reserved = 0};
  double* samples = malloc(sizeof(double) * MostSamples);
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    double seconds = 0;
    if (sscanf(line, "slice %lf", &seconds) != 1) die("not understood", line);
    double one = time_calls(kernel, &call, 3);
    one = time_calls(kernel, &call, 3);
    const long calls = one >= 50e3 ? 1 : (long)(50e3 / one) + 1;
    int taken = 0;
    const double end = now_ns() + seconds * 1e9;
    while ((taken < 3 || now_ns() < end) && taken < MostSamples) {
      samples[taken++] = time_calls(kernel, &call, calls);
    }
    qsort(samples, (size_t)taken, sizeof(double), compare);
    printf("%.1f %d\n", samples[(taken - 1) / 10], taken);
    fflush(stdout);
  }
  return 0;
}
