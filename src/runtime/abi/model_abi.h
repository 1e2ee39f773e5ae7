/* The plain C interface of a compiled model. Version 1.
 *
 * A model is a table of constants, kernels and steps (TilewrightModelTable), made by `tilewright
 * compile`, and a small run time in C that walks it. A library exports one symbol, `tilewright_model`,
 * a TilewrightModelApi; an object for linking exports it as NAME_model.
 *
 *   const TilewrightModelApi* api = dlsym(library, "tilewright_model");
 *   TilewrightModel* model;
 *   if (api->create(NULL, &model) != 0) puts(api->error(NULL));
 *   api->run(model, inputs, outputs);   pointers in the order of api->inputs() and api->outputs()
 *   api->destroy(model);
 *
 * Instances share constants and nothing else: each may be used by one thread at a time, several in
 * several threads at once. Functions return 0 or a TILEWRIGHT_MODEL_* code; the text belongs to the
 * instance, or to the calling thread where there is none.
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_
#define TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_MODEL_VERSION 1
#define TILEWRIGHT_MODEL_OK 0
#define TILEWRIGHT_MODEL_BAD_ARGUMENT 1 /* a null pointer, a wrong shape, type, stride or device */
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

typedef struct TilewrightModelOptions {
  int32_t threads;          /* 0: as many as the model was made for */
  int32_t reserved;
  const char* weights_path; /* null: embedded, or the file named at compile time beside the library */
} TilewrightModelOptions;

/* Time by step, filled by run_timed: nanoseconds, one a step. */
typedef struct TilewrightModelApi {
  int32_t version; /* TILEWRIGHT_MODEL_VERSION */
  int32_t (*create)(const TilewrightModelOptions* options, TilewrightModel** model);
  void (*destroy)(TilewrightModel* model);
  const char* (*error)(const TilewrightModel* model); /* of the last call; never null */
  int32_t (*inputs)(const TilewrightTensorInfo** infos);  /* how many */
  int32_t (*outputs)(const TilewrightTensorInfo** infos); /* how many */
  int32_t (*run)(TilewrightModel* model, const void* const* inputs, void* const* outputs);
  int32_t (*run_dlpack)(TilewrightModel* model, const TilewrightDLTensor* const* inputs,
                        TilewrightDLTensor* const* outputs);
  int32_t (*steps)(const char* const** titles); /* how many, and what each is */
  int32_t (*run_timed)(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                       int64_t* step_ns);
  int64_t (*memory)(const TilewrightModel* model); /* bytes of arena and workspace of an instance */
} TilewrightModelApi;

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_ABI_H_ */
