/* Runs a compiled model: opens the library, prints its inputs and outputs, runs it on ones.
 *
 *   tilewright compile model.onnx -o model.so
 *   cc -O2 -I src/runtime/abi examples/c/main.c -o run_model -ldl
 *   ./run_model ./model.so
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_abi.h"

static void describe(const char* role, const TilewrightTensorInfo* info) {
  printf("%s %s: %s%d [", role, info->name, info->type.code == 2 ? "f" : "i", info->type.bits);
  for (int32_t d = 0; d < info->rank; ++d) {
    printf("%s%lld", d == 0 ? "" : ",", (long long)info->shape[d]);
  }
  printf("]\n");
}

/* Memory for a tensor, aligned so that the model need not copy it; floats are 1. */
static void* make_tensor(const TilewrightTensorInfo* info) {
  void* data = aligned_alloc(64, ((size_t)info->bytes + 63) / 64 * 64);
  if (data == NULL) return NULL;
  memset(data, 0, (size_t)info->bytes);
  if (info->type.code == 2 && info->type.bits == 32) {
    for (int64_t k = 0; k < info->bytes / 4; ++k) ((float*)data)[k] = 1.0f;
  }
  return data;
}

static int run(const TilewrightModelApi* api) {
  TilewrightModel* model = NULL;
  if (api->create(api, NULL, &model) != TILEWRIGHT_MODEL_OK) {
    fprintf(stderr, "%s\n", api->error(NULL));
    return 1;
  }
  const void** inputs = calloc((size_t)api->input_count + 1, sizeof(void*));
  void** outputs = calloc((size_t)api->output_count + 1, sizeof(void*));
  for (int32_t k = 0; k < api->input_count; ++k) {
    describe("input", &api->inputs[k]);
    inputs[k] = make_tensor(&api->inputs[k]);
  }
  for (int32_t k = 0; k < api->output_count; ++k) {
    describe("output", &api->outputs[k]);
    outputs[k] = make_tensor(&api->outputs[k]);
  }
  const int32_t code = api->run(model, inputs, outputs);
  if (code != TILEWRIGHT_MODEL_OK) {
    fprintf(stderr, "%s\n", api->error(model));
  } else {
    for (int32_t k = 0; k < api->output_count; ++k) {
      if (api->outputs[k].type.code != 2 || api->outputs[k].type.bits != 32) continue;
      printf("%s[0] = %.6g\n", api->outputs[k].name, (double)((const float*)outputs[k])[0]);
    }
  }
  for (int32_t k = 0; k < api->input_count; ++k) free((void*)(uintptr_t)inputs[k]);
  for (int32_t k = 0; k < api->output_count; ++k) free(outputs[k]);
  free(inputs);
  free(outputs);
  api->destroy(model);
  return code == TILEWRIGHT_MODEL_OK ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s model.so\n", argv[0]);
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const TilewrightModelApi* api = dlsym(library, "tilewright_model");
  if (api == NULL || api->version != TILEWRIGHT_MODEL_VERSION) {
    fprintf(stderr, "%s: not a compiled model of version %d\n", argv[1], TILEWRIGHT_MODEL_VERSION);
    return 1;
  }
  const int status = run(api);
  dlclose(library);
  return status;
}
