/* The plain C interface of a compiled model. Version 1.
 *
 * A model is a TilewrightModelApi: what its inputs and outputs are, and functions. A library made
 * by `tilewright compile` exports it as `tilewright_model`, and as NAME_model, as an object does.
 *
 *   const TilewrightModelApi* api = dlsym(library, "tilewright_model");
 *   TilewrightModel* model;
 *   if (api->create(api, NULL, &model) != 0) puts(api->error(NULL));
 *   api->run(model, inputs, outputs);   pointers in the order of api->inputs and api->outputs
 *   api->destroy(model);
 *
 * Tensors are row-major. Pointers that are aligned to 64 bytes are used as they are; others, and
 * outputs that overlap an input, go through a copy. Instances share constants and nothing else:
 * each may be used by one thread at a time, several in several threads at once. Instances with the
 * same number of threads share the threads as well: who finds them busy computes alone meanwhile.
 * Functions return 0 or a TILEWRIGHT_MODEL_* code; the text belongs to the instance, or to the
 * calling thread where there is none. A library may be closed when its instances are destroyed.
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_
#define TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_MODEL_VERSION 1
#define TILEWRIGHT_MODEL_OK 0
#define TILEWRIGHT_MODEL_BAD_ARGUMENT                        \
  1 /* a null pointer, a wrong shape, type, stride or device \
     */
#define TILEWRIGHT_MODEL_NO_MEMORY 2
#define TILEWRIGHT_MODEL_NO_WEIGHTS 3 /* the file of weights is missing or another one */
#define TILEWRIGHT_MODEL_WRONG_CPU 4  /* made for instructions that this machine lacks */
#define TILEWRIGHT_MODEL_FAILED 5     /* a kernel could not get its threads */

typedef struct TilewrightModel TilewrightModel;

/* DLPack's DLDataType and DLTensor, laid out as dlpack.h has them. */
typedef struct TilewrightDataType {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;
} TilewrightDataType;

typedef struct TilewrightDLTensor {
  void* data;
  int32_t device_type; /* 1: the cpu */
  int32_t device_id;
  int32_t ndim;
  TilewrightDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; null: row-major */
  uint64_t byte_offset;
} TilewrightDLTensor;

typedef struct TilewrightTensorInfo {
  const char* name;
  TilewrightDataType type;
  int32_t rank;
  const int64_t* shape;
  int64_t bytes;
} TilewrightTensorInfo;

/* Without a flag the threads of an instance that has one for every cpu are pinned to a cpu each,
 * but for the caller; where there are fewer, the system places them, since several processes would
 * all take the same cpus. */
#define TILEWRIGHT_MODEL_PIN_CALLER 1 /* all of several, with the caller: for measuring */
#define TILEWRIGHT_MODEL_NO_PIN 2     /* threads are where the system puts them */

typedef struct TilewrightModelOptions {
  int32_t threads;          /* the caller's included; 0: as many as the model was made for */
  int32_t flags;            /* TILEWRIGHT_MODEL_PIN_CALLER or TILEWRIGHT_MODEL_NO_PIN, or 0 */
  const char* weights_path; /* null: embedded, or the file named at compile time, beside the library
                               or the program */
} TilewrightModelOptions;

typedef struct TilewrightModelApi TilewrightModelApi;
struct TilewrightModelApi {
  int32_t version; /* TILEWRIGHT_MODEL_VERSION; the rest is only for who knows it */
  int32_t threads; /* that the model was made for */
  const char* name;
  int32_t input_count;
  int32_t output_count;
  int32_t step_count;
  int32_t reserved;
  const TilewrightTensorInfo* inputs;
  const TilewrightTensorInfo* outputs;
  const char* const* step_titles; /* what each kernel call of a run computes */

  int32_t (*create)(const TilewrightModelApi* api, const TilewrightModelOptions* options,
                    TilewrightModel** model);         /* options may be null */
  void (*destroy)(TilewrightModel* model);            /* null: nothing */
  const char* (*error)(const TilewrightModel* model); /* of the last failure; never null */
  int32_t (*run)(TilewrightModel* model, const void* const* inputs, void* const* outputs);
  int32_t (*run_dlpack)(TilewrightModel* model, const TilewrightDLTensor* const* inputs,
                        TilewrightDLTensor* const* outputs);
  /* As run; step_ns has step_count numbers: nanoseconds of each step. */
  int32_t (*run_timed)(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                       int64_t* step_ns);
  int64_t (*memory)(const TilewrightModel* model); /* bytes of arena and workspace */

  const struct TilewrightModelTable* table; /* for the run time */
};

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_ */
