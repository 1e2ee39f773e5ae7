/* The C interface of a compiled model. Version 1.
 *
 * A model is a TilewrightModelApi, which describes its inputs and outputs and holds its functions.
 * A compiled library exports it as `tilewright_model` and as NAME_model; an
 * object defines NAME_model.
 *
 *   const TilewrightModelApi* api = dlsym(library, "tilewright_model");
 *   TilewrightModel* model;
 *   if (api->create(api, NULL, &model) != 0) puts(api->error(NULL));
 *   api->run(model, inputs, outputs);   pointers in the order of api->inputs and api->outputs
 *   api->destroy(model);
 *
 * Denormals count as zero in a run, unless the model was compiled to keep them. The float
 * control of the calling thread is restored before a function returns.
 *
 * Tensors are row-major. Pointers that are aligned to 64 bytes are used directly; others, and
 * outputs that overlap an input, go through a copy. An instance may be used by one thread at a
 * time; several instances may run in several threads at once. Instances share the constants.
 * Instances with the same number of threads also share a thread pool: if it is busy, a caller
 * computes on its own thread. Functions return 0 or a TILEWRIGHT_MODEL_* code; the error text
 * belongs to the instance, or to the calling thread if there is no instance. A library may be
 * closed once its instances are destroyed.
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
#define TILEWRIGHT_MODEL_NO_WEIGHTS 3 /* the weights file is missing or does not match */
#define TILEWRIGHT_MODEL_WRONG_CPU 4  /* the code needs instructions that this machine lacks */
#define TILEWRIGHT_MODEL_FAILED 5     /* a kernel could not start its threads */

typedef struct TilewrightModel TilewrightModel;

/* DLPack's DLDataType and DLTensor, with the layout of dlpack.h. */
typedef struct TilewrightDataType {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;
} TilewrightDataType;

typedef struct TilewrightDLTensor {
  void* data;
  int32_t device_type; /* 1: CPU */
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

/* By default, if an instance has one thread for every core of the process, each thread except the
 * caller's is pinned to a CPU. With fewer threads none is pinned, because several processes would
 * all occupy the same CPUs. */
#define TILEWRIGHT_MODEL_PIN_CALLER 1 /* pin all threads, also the caller's: for measuring */
#define TILEWRIGHT_MODEL_NO_PIN 2     /* pin no thread */

typedef struct TilewrightModelOptions {
  int32_t threads;          /* including the caller's; 0: the number it was compiled for */
  int32_t flags;            /* TILEWRIGHT_MODEL_PIN_CALLER or TILEWRIGHT_MODEL_NO_PIN, or 0 */
  const char* weights_path; /* null: embedded, or the file named at compile time, in the folder of
                               the library or of the program */
} TilewrightModelOptions;

typedef struct TilewrightModelApi TilewrightModelApi;
struct TilewrightModelApi {
  int32_t version; /* TILEWRIGHT_MODEL_VERSION; check it before the other members */
  int32_t threads; /* that the model was compiled for */
  const char* name;
  int32_t input_count;
  int32_t output_count;
  int32_t step_count;
  int32_t reserved;
  const TilewrightTensorInfo* inputs;
  const TilewrightTensorInfo* outputs;
  const char* const* step_titles; /* one per step of a run: what it computes */

  int32_t (*create)(const TilewrightModelApi* api, const TilewrightModelOptions* options,
                    TilewrightModel** model);         /* options may be null */
  void (*destroy)(TilewrightModel* model);            /* null: nothing */
  const char* (*error)(const TilewrightModel* model); /* of the last failure; never null */
  int32_t (*run)(TilewrightModel* model, const void* const* inputs, void* const* outputs);
  int32_t (*run_dlpack)(TilewrightModel* model, const TilewrightDLTensor* const* inputs,
                        TilewrightDLTensor* const* outputs);
  /* Like run; also writes the nanoseconds of each of the step_count steps to step_ns. */
  int32_t (*run_timed)(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                       int64_t* step_ns);
  int64_t (*memory)(const TilewrightModel* model); /* bytes of arena and workspace */

  const struct TilewrightModelTable* table; /* for the runtime */
};

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_ */
