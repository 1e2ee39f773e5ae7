/* What a model's run time walks: kernels, steps, and where the arguments of each step lie. Constant
 * data, made by `tilewright compile`; not an interface: table and run time come in one file.
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_MODEL_TABLE_H_
#define TILEWRIGHT_RUNTIME_ABI_MODEL_TABLE_H_

#include <stdint.h>

#include "runtime/abi/kernel_abi.h"
#include "runtime/abi/model_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the run time's own functions are: hidden and weak in an object, so that two models may be
 * linked into one program; static in a C source. */
#ifndef TILEWRIGHT_RUNTIME_LINKAGE
#define TILEWRIGHT_RUNTIME_LINKAGE
#endif

typedef struct TilewrightTableKernel {
  int32_t (*function)(const TilewrightCall* call);
  int64_t shared_workspace; /* bytes */
  int64_t thread_workspace; /* bytes more for each thread */
} TilewrightTableKernel;

/* Where an argument lies. */
#define TILEWRIGHT_HOME_INPUT 0    /* of the caller */
#define TILEWRIGHT_HOME_OUTPUT 1   /* of the caller */
#define TILEWRIGHT_HOME_CONSTANT 2 /* in the constants; index is not used */
#define TILEWRIGHT_HOME_ARENA 3    /* in the memory of an instance; index is not used */
typedef struct TilewrightTableArgument {
  int32_t home;
  int32_t index;
  int64_t offset; /* bytes */
} TilewrightTableArgument;

typedef struct TilewrightTableStep {
  int32_t kernel;
  int32_t first_argument;
  int32_t argument_count;
  int32_t reserved;
} TilewrightTableStep;

#define TILEWRIGHT_TABLE_VERSION 1 /* of these structs and the run time: they go together */
typedef struct TilewrightModelTable {
  int32_t version;
  int32_t reserved;
  const char* cpu_features; /* that the code needs: `sse4.2,avx,fma` */
  int32_t kernel_count;
  int32_t argument_count;
  const TilewrightTableKernel* kernels;
  const TilewrightTableStep* steps; /* api->step_count of them */
  const TilewrightTableArgument* arguments;
  int64_t arena_bytes;
  int64_t constant_bytes;
  const void* constants;    /* aligned to 64; null: in a file, or there are none */
  const char* weights_file; /* its name, without a folder; null: embedded */
  uint64_t weights_hash[2];
} TilewrightModelTable;

/* A file of weights: this, zeros up to TILEWRIGHT_WEIGHTS_OFFSET, then the constants. */
#define TILEWRIGHT_WEIGHTS_MAGIC "TWWEIGHT"
#define TILEWRIGHT_WEIGHTS_OFFSET 4096
typedef struct TilewrightWeightsHeader {
  char magic[8];
  uint64_t version; /* 1 */
  uint64_t bytes;
  uint64_t hash[2];
} TilewrightWeightsHeader;

/* The functions of a TilewrightModelApi. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_create(const TilewrightModelApi* api,
                                                           const TilewrightModelOptions* options,
                                                           TilewrightModel** model);
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_model_destroy(TilewrightModel* model);
TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_model_error(const TilewrightModel* model);
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_run(TilewrightModel* model,
                                                        const void* const* inputs,
                                                        void* const* outputs);
TILEWRIGHT_RUNTIME_LINKAGE int32_t
tilewright_model_run_dlpack(TilewrightModel* model, const TilewrightDLTensor* const* inputs,
                            TilewrightDLTensor* const* outputs);
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_run_timed(TilewrightModel* model,
                                                              const void* const* inputs,
                                                              void* const* outputs,
                                                              int64_t* step_ns);
TILEWRIGHT_RUNTIME_LINKAGE int64_t tilewright_model_memory(const TilewrightModel* model);

/* The first of `features` (names, separated by commas) that this machine lacks, or null. The text
 * is that of `features` from there on. */
TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_missing_feature(const char* features);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_TABLE_H_ */
