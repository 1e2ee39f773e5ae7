/* The runtime of a compiled model: creates instances, checks the arguments of callers, and executes
 * the step table. Plain C11 and POSIX, so that a library needs only the C library. */
#include "runtime/abi/float_control.h"
#include "runtime/abi/model_table.h"
#include "runtime/abi/model_weights.h"
#include "runtime/abi/thread_pool.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ModelTextBytes = 512, ModelAlignment = 64, ModelHugePage = 2 << 20 };

/* An argument of a step that the caller provides: known when run is called. */
typedef struct ModelPatch {
  int32_t slot;  /* index in `pointers` */
  int32_t which; /* index in `given`: inputs, then outputs */
  int64_t offset;
} ModelPatch;

typedef struct ModelMemory {
  char* data;
  size_t mapped; /* 0: on the heap */
} ModelMemory;

struct TilewrightModel {
  const TilewrightModelApi* api;
  int32_t threads;
  int32_t patch_count;
  TilewrightPool* pool;  /* null: one thread */
  const char* constants; /* in the table, or in a file */
  ModelMemory memory;    /* arena, then workspace */
  int64_t memory_bytes;
  void** pointers;       /* the arguments of all steps, concatenated */
  TilewrightCall* calls; /* one per step */
  ModelPatch* patches;
  char** given;              /* the caller's pointer, or an aligned copy */
  char** copies;             /* aligned, allocated on first use */
  const void** plain_inputs; /* for run_dlpack */
  void** plain_outputs;
  char text[ModelTextBytes];
};

static _Thread_local char model_thread_text[ModelTextBytes] = "no error";

__attribute__((format(printf, 3, 4))) static int32_t model_fail(TilewrightModel* model,
                                                                int32_t code, const char* format,
                                                                ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(model != NULL ? model->text : model_thread_text, ModelTextBytes, format, arguments);
  va_end(arguments);
  return code;
}

/* --- memory --- */

static int64_t model_round_up(int64_t bytes) {
  return (bytes + ModelAlignment - 1) / ModelAlignment * ModelAlignment;
}

/* From the size of a huge page on, it starts at one and requests huge pages. */
static int model_allocate(ModelMemory* memory, int64_t bytes) {
  memory->data = NULL;
  memory->mapped = 0;
  if (bytes <= 0) return 1;
  if (bytes < ModelHugePage) {
    memory->data = aligned_alloc(ModelAlignment, (size_t)model_round_up(bytes));
    return memory->data != NULL;
  }
  const size_t size =
      ((size_t)bytes + ModelHugePage - 1) / ModelHugePage * ModelHugePage + ModelHugePage;
  char* base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return 0;
  const size_t before = (ModelHugePage - (uintptr_t)base % ModelHugePage) % ModelHugePage;
  const size_t after = ModelHugePage - before;
  if (before != 0) munmap(base, before);
  if (after != 0) munmap(base + size - after, after);
  memory->data = base + before;
  memory->mapped = size - ModelHugePage;
  madvise(memory->data, memory->mapped, MADV_HUGEPAGE); /* a hint */
  return 1;
}

/* For the whole huge pages within embedded constants: also a hint, repeated for each instance.
 */
static void model_ask_huge_pages(const void* constants, int64_t bytes) {
  char* first = (char*)constants;
  const size_t before = (ModelHugePage - (uintptr_t)first % ModelHugePage) % ModelHugePage;
  if ((size_t)bytes < before + ModelHugePage) return;
  const size_t size = ((size_t)bytes - before) / ModelHugePage * ModelHugePage;
  madvise(first + before, size, MADV_HUGEPAGE);
}

static void model_release(ModelMemory* memory) {
  if (memory->mapped != 0) {
    munmap(memory->data, memory->mapped);
  } else {
    free(memory->data);
  }
}

/* --- thread pools, shared by instances with the same number of threads --- */

typedef struct ModelPool {
  TilewrightPool pool; /* first member: both have the same address */
  int32_t threads;
  int32_t pin;
  int32_t users;
  struct ModelPool* next;
} ModelPool;

static pthread_mutex_t model_pools_mutex = PTHREAD_MUTEX_INITIALIZER;
static ModelPool* model_pools = NULL;

static TilewrightPool* model_acquire_pool(int32_t threads, int32_t pin) {
  pthread_mutex_lock(&model_pools_mutex);
  ModelPool* pool = model_pools;
  while (pool != NULL && (pool->threads != threads || pool->pin != pin ||
                          tilewright_pool_is_inherited(&pool->pool))) {
    pool = pool->next;
  }
  if (pool == NULL) {
    const TilewrightPoolOptions options = {threads, TILEWRIGHT_POOL_SPIN_US, pin};
    pool = calloc(1, sizeof(*pool));
    if (pool != NULL && tilewright_pool_open(&pool->pool, &options) != 0) {
      free(pool);
      pool = NULL;
    }
    if (pool != NULL) {
      pool->threads = threads;
      pool->pin = pin;
      pool->next = model_pools;
      model_pools = pool;
    }
  }
  if (pool != NULL) ++pool->users;
  pthread_mutex_unlock(&model_pools_mutex);
  return pool != NULL ? &pool->pool : NULL;
}

/* The last user ends the threads, so that the library can be closed. */
static void model_release_pool(TilewrightPool* pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&model_pools_mutex);
  ModelPool** link = &model_pools;
  while (*link != NULL && &(*link)->pool != pool) link = &(*link)->next;
  ModelPool* found = *link;
  if (found != NULL && --found->users == 0) {
    *link = found->next;
    tilewright_pool_close(&found->pool);
    free(found);
  }
  pthread_mutex_unlock(&model_pools_mutex);
}

/* --- creating an instance --- */

static int64_t model_workspace(const TilewrightModelTable* table, int32_t threads) {
  int64_t max_bytes = 0;
  for (int32_t k = 0; k < table->kernel_count; ++k) {
    const TilewrightTableKernel* kernel = &table->kernels[k];
    const int64_t bytes = kernel->shared_workspace + threads * kernel->thread_workspace;
    if (bytes > max_bytes) max_bytes = bytes;
  }
  return max_bytes;
}

/* Pointers that are already known, the calls, and the pointers to set when run is called. */
static void model_lay_out(TilewrightModel* model, int64_t workspace) {
  const TilewrightModelTable* table = model->api->table;
  char* arena = model->memory.data;
  for (int32_t k = 0; k < table->argument_count; ++k) {
    const TilewrightTableArgument* argument = &table->arguments[k];
    if (argument->home == TILEWRIGHT_HOME_ARENA) {
      model->pointers[k] = arena + argument->offset;
    } else if (argument->home == TILEWRIGHT_HOME_CONSTANT) {
      model->pointers[k] = (char*)model->constants + argument->offset;
    } else {
      ModelPatch* patch = &model->patches[model->patch_count++];
      patch->slot = k;
      patch->which = argument->index;
      if (argument->home == TILEWRIGHT_HOME_OUTPUT) patch->which += model->api->input_count;
      patch->offset = argument->offset;
    }
  }
  for (int32_t k = 0; k < model->api->step_count; ++k) {
    TilewrightCall* call = &model->calls[k];
    call->arguments = model->pointers + table->steps[k].first_argument;
    call->workspace = workspace != 0 ? arena + model_round_up(table->arena_bytes) : NULL;
    call->pool = model->pool;
    call->threads = model->threads;
  }
}

static void* model_array(int32_t count, size_t bytes) {
  return calloc(count > 0 ? (size_t)count : 1, bytes);
}

static int32_t model_build(TilewrightModel* model, const TilewrightModelOptions* options) {
  const TilewrightModelApi* api = model->api;
  const TilewrightModelTable* table = api->table;
  const int32_t ends = api->input_count + api->output_count;
  const int64_t workspace = model_workspace(table, model->threads);
  model->memory_bytes = model_round_up(table->arena_bytes) + workspace;
  model->pointers = (void**)model_array(table->argument_count, sizeof(void*));
  model->patches = model_array(table->argument_count, sizeof(ModelPatch));
  model->calls = model_array(api->step_count, sizeof(TilewrightCall));
  model->given = (char**)model_array(ends, sizeof(char*));
  model->copies = (char**)model_array(ends, sizeof(char*));
  model->plain_inputs = (const void**)model_array(api->input_count, sizeof(void*));
  model->plain_outputs = (void**)model_array(api->output_count, sizeof(void*));
  if (model->pointers == NULL || model->patches == NULL || model->calls == NULL ||
      model->given == NULL || model->copies == NULL || model->plain_inputs == NULL ||
      model->plain_outputs == NULL || !model_allocate(&model->memory, model->memory_bytes)) {
    return model_fail(NULL, TILEWRIGHT_MODEL_NO_MEMORY,
                      "%s: no memory for an instance of %lld bytes", api->name,
                      (long long)model->memory_bytes);
  }
  if (model->threads > 1) {
    const int32_t flags = options != NULL ? options->flags : 0;
    const int32_t pin = (flags & TILEWRIGHT_MODEL_PIN_CALLER) != 0 ? TILEWRIGHT_POOL_PIN_EACH
                        : (flags & TILEWRIGHT_MODEL_NO_PIN) != 0   ? TILEWRIGHT_POOL_PIN_NONE
                                                                   : TILEWRIGHT_POOL_PIN_IF_ALL;
    model->pool = model_acquire_pool(model->threads, pin);
    if (model->pool == NULL) {
      return model_fail(NULL, TILEWRIGHT_MODEL_NO_MEMORY, "%s: no memory for %d threads", api->name,
                        model->threads);
    }
    if ((flags & TILEWRIGHT_MODEL_PIN_CALLER) != 0) tilewright_pool_pin_caller(model->pool);
  }
  if (table->weights_file == NULL) {
    model->constants = table->constants;
    model_ask_huge_pages(table->constants, table->constant_bytes);
  } else {
    const int32_t code =
        tilewright_weights_open(api, options != NULL ? options->weights_path : NULL,
                                &model->constants, model_thread_text, ModelTextBytes);
    if (code != TILEWRIGHT_MODEL_OK) return code;
  }
  model_lay_out(model, workspace);
  return TILEWRIGHT_MODEL_OK;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_create(const TilewrightModelApi* api,
                                                           const TilewrightModelOptions* options,
                                                           TilewrightModel** model) {
  if (model == NULL || api == NULL) {
    return model_fail(NULL, TILEWRIGHT_MODEL_BAD_ARGUMENT, "create: a null pointer");
  }
  *model = NULL;
  if (api->version != TILEWRIGHT_MODEL_VERSION || api->table->version != TILEWRIGHT_TABLE_VERSION) {
    return model_fail(NULL, TILEWRIGHT_MODEL_FAILED,
                      "%s: made for another version of this run time; compile it again", api->name);
  }
  if (options != NULL && (options->threads < 0 || options->threads > 4096)) {
    return model_fail(NULL, TILEWRIGHT_MODEL_BAD_ARGUMENT, "create: %d threads; 0 to 4096 may be",
                      options->threads);
  }
  const char* missing = tilewright_missing_feature(api->table->cpu_features);
  if (missing != NULL) {
    return model_fail(NULL, TILEWRIGHT_MODEL_WRONG_CPU,
                      "%s: made for a processor with %.*s, which this one lacks; compile it for "
                      "another target",
                      api->name, (int)strcspn(missing, ","), missing);
  }
  TilewrightModel* made = calloc(1, sizeof(*made));
  if (made == NULL) {
    return model_fail(NULL, TILEWRIGHT_MODEL_NO_MEMORY, "%s: no memory", api->name);
  }
  made->api = api;
  made->threads = options != NULL && options->threads > 0 ? options->threads : api->threads;
  strcpy(made->text, "no error");
  const int32_t code = model_build(made, options);
  if (code != TILEWRIGHT_MODEL_OK) {
    tilewright_model_destroy(made);
    return code;
  }
  *model = made;
  return TILEWRIGHT_MODEL_OK;
}

TILEWRIGHT_RUNTIME_LINKAGE void tilewright_model_destroy(TilewrightModel* model) {
  if (model == NULL) return;
  if (model->copies != NULL) {
    const int32_t ends = model->api->input_count + model->api->output_count;
    for (int32_t k = 0; k < ends; ++k) free(model->copies[k]);
  }
  model_release_pool(model->pool);
  if (model->api->table->weights_file != NULL) tilewright_weights_close(model->constants);
  model_release(&model->memory);
  free((void*)model->pointers);
  free(model->patches);
  free(model->calls);
  free((void*)model->given);
  free((void*)model->copies);
  free((void*)model->plain_inputs);
  free((void*)model->plain_outputs);
  free(model);
}

TILEWRIGHT_RUNTIME_LINKAGE const char* tilewright_model_error(const TilewrightModel* model) {
  return model != NULL ? model->text : model_thread_text;
}

TILEWRIGHT_RUNTIME_LINKAGE int64_t tilewright_model_memory(const TilewrightModel* model) {
  return model != NULL ? model->memory_bytes : 0;
}

/* --- running --- */

static int model_overlap(const char* a, int64_t a_bytes, const char* b, int64_t b_bytes) {
  return (uintptr_t)a < (uintptr_t)b + (uintptr_t)b_bytes &&
         (uintptr_t)b < (uintptr_t)a + (uintptr_t)a_bytes;
}

/* An aligned buffer for the `which`-th tensor of the caller; null if there is no memory. */
static char* model_copy(TilewrightModel* model, int32_t which, int64_t bytes) {
  if (model->copies[which] == NULL) {
    model->copies[which] = aligned_alloc(ModelAlignment, (size_t)model_round_up(bytes));
  }
  model->given[which] = model->copies[which];
  return model->copies[which];
}

static int32_t model_take_inputs(TilewrightModel* model, const void* const* inputs) {
  const TilewrightModelApi* api = model->api;
  for (int32_t k = 0; k < api->input_count; ++k) {
    const TilewrightTensorInfo* info = &api->inputs[k];
    if (inputs[k] == NULL) {
      return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT, "input %d (%s): a null pointer", k,
                        info->name);
    }
    model->given[k] = (char*)inputs[k];
    if ((uintptr_t)inputs[k] % ModelAlignment == 0) continue;
    if (model_copy(model, k, info->bytes) == NULL) {
      return model_fail(model, TILEWRIGHT_MODEL_NO_MEMORY, "input %d (%s): no memory for a copy", k,
                        info->name);
    }
    memcpy(model->given[k], inputs[k], (size_t)info->bytes);
  }
  return TILEWRIGHT_MODEL_OK;
}

static int32_t model_take_outputs(TilewrightModel* model, const void* const* inputs,
                                  void* const* outputs) {
  const TilewrightModelApi* api = model->api;
  for (int32_t k = 0; k < api->output_count; ++k) {
    const TilewrightTensorInfo* info = &api->outputs[k];
    if (outputs[k] == NULL) {
      return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT, "output %d (%s): a null pointer", k,
                        info->name);
    }
    for (int32_t other = 0; other < k; ++other) {
      if (!model_overlap(outputs[k], info->bytes, outputs[other], api->outputs[other].bytes)) {
        continue;
      }
      return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT,
                        "outputs %d (%s) and %d (%s) overlap in memory", other,
                        api->outputs[other].name, k, info->name);
    }
    int copied = (uintptr_t)outputs[k] % ModelAlignment != 0;
    for (int32_t other = 0; other < api->input_count && !copied; ++other) {
      copied = model_overlap(outputs[k], info->bytes, inputs[other], api->inputs[other].bytes);
    }
    model->given[api->input_count + k] = outputs[k];
    if (copied && model_copy(model, api->input_count + k, info->bytes) == NULL) {
      return model_fail(model, TILEWRIGHT_MODEL_NO_MEMORY, "output %d (%s): no memory for a copy",
                        k, info->name);
    }
  }
  return TILEWRIGHT_MODEL_OK;
}

static int64_t model_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int32_t model_walk(TilewrightModel* model, int64_t* step_ns) {
  const TilewrightModelTable* table = model->api->table;
  int64_t before = step_ns != NULL ? model_now_ns() : 0;
  for (int32_t k = 0; k < model->api->step_count; ++k) {
    const int32_t status = table->kernels[table->steps[k].kernel].function(&model->calls[k]);
    if (status != TILEWRIGHT_STATUS_OK) {
      return model_fail(model, TILEWRIGHT_MODEL_FAILED,
                        "step %d (%s): the kernel could not get its threads (status %d)", k,
                        model->api->step_titles[k], status);
    }
    if (step_ns == NULL) continue;
    const int64_t now = model_now_ns();
    step_ns[k] = now - before;
    before = now;
  }
  return TILEWRIGHT_MODEL_OK;
}

static int32_t model_run(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                         int64_t* step_ns) {
  if (model == NULL) return model_fail(NULL, TILEWRIGHT_MODEL_BAD_ARGUMENT, "run: a null model");
  const TilewrightModelApi* api = model->api;
  if ((inputs == NULL && api->input_count > 0) || (outputs == NULL && api->output_count > 0)) {
    return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT,
                      "run: a null pointer instead of %d inputs or %d outputs", api->input_count,
                      api->output_count);
  }
  int32_t code = model_take_inputs(model, inputs);
  if (code == TILEWRIGHT_MODEL_OK) code = model_take_outputs(model, inputs, outputs);
  if (code != TILEWRIGHT_MODEL_OK) return code;
  for (int32_t k = 0; k < model->patch_count; ++k) {
    const ModelPatch* patch = &model->patches[k];
    model->pointers[patch->slot] = model->given[patch->which] + patch->offset;
  }
  const uint64_t before = float_control_enter(api->table->denormals);
  code = model_walk(model, step_ns);
  float_control_leave(before);
  if (code != TILEWRIGHT_MODEL_OK) return code;
  for (int32_t k = 0; k < api->output_count; ++k) {
    const char* made = model->given[api->input_count + k];
    if (made != outputs[k]) memcpy(outputs[k], made, (size_t)api->outputs[k].bytes);
  }
  return TILEWRIGHT_MODEL_OK;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_run(TilewrightModel* model,
                                                        const void* const* inputs,
                                                        void* const* outputs) {
  return model_run(model, inputs, outputs, NULL);
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_model_run_timed(TilewrightModel* model,
                                                              const void* const* inputs,
                                                              void* const* outputs,
                                                              int64_t* step_ns) {
  if (model != NULL && step_ns == NULL) {
    return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT, "run_timed: no place for the times");
  }
  return model_run(model, inputs, outputs, step_ns);
}

/* --- DLPack --- */

/* The first element of a tensor that matches `info`; otherwise null, with the reason. */
static char* model_data_of(TilewrightModel* model, const char* role, int32_t index,
                           const TilewrightDLTensor* tensor, const TilewrightTensorInfo* info) {
  const char* problem = NULL;
  int64_t stride = 1;
  if (tensor == NULL || tensor->data == NULL) {
    problem = "a null pointer";
  } else if (tensor->device_type != 1) {
    problem = "not in the memory of the cpu (DLPack device 1)";
  } else if (tensor->dtype.code != info->type.code || tensor->dtype.bits != info->type.bits ||
             tensor->dtype.lanes != 1) {
    problem = "another element type than the model's";
  } else if (tensor->ndim != info->rank || (info->rank > 0 && tensor->shape == NULL)) {
    problem = "another number of dimensions than the model's";
  }
  for (int32_t d = info->rank - 1; d >= 0 && problem == NULL; --d) {
    if (tensor->shape[d] != info->shape[d]) {
      problem = "another shape than the model's";
    } else if (tensor->strides != NULL && info->shape[d] != 1 && tensor->strides[d] != stride) {
      problem = "not row-major; copy it to a dense tensor first";
    }
    stride *= info->shape[d];
  }
  if (problem == NULL) return (char*)tensor->data + tensor->byte_offset;
  model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT, "%s %d (%s): %s", role, index, info->name,
             problem);
  return NULL;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t
tilewright_model_run_dlpack(TilewrightModel* model, const TilewrightDLTensor* const* inputs,
                            TilewrightDLTensor* const* outputs) {
  if (model == NULL) {
    return model_fail(NULL, TILEWRIGHT_MODEL_BAD_ARGUMENT, "run_dlpack: a null model");
  }
  const TilewrightModelApi* api = model->api;
  if ((inputs == NULL && api->input_count > 0) || (outputs == NULL && api->output_count > 0)) {
    return model_fail(model, TILEWRIGHT_MODEL_BAD_ARGUMENT,
                      "run_dlpack: a null pointer instead of %d inputs or %d outputs",
                      api->input_count, api->output_count);
  }
  for (int32_t k = 0; k < api->input_count; ++k) {
    model->plain_inputs[k] = model_data_of(model, "input", k, inputs[k], &api->inputs[k]);
    if (model->plain_inputs[k] == NULL) return TILEWRIGHT_MODEL_BAD_ARGUMENT;
  }
  for (int32_t k = 0; k < api->output_count; ++k) {
    model->plain_outputs[k] = model_data_of(model, "output", k, outputs[k], &api->outputs[k]);
    if (model->plain_outputs[k] == NULL) return TILEWRIGHT_MODEL_BAD_ARGUMENT;
  }
  return model_run(model, model->plain_inputs, model->plain_outputs, NULL);
}
