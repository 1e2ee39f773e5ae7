/* A compiled model written by hand, for tests of timing models. TILEWRIGHT_BAD_MODEL selects its
 * behavior: 0 works, 1 crashes, 2 hangs, 3 reports an error. */
#include "runtime/abi/model_abi.h"

static const int64_t kShape[] = {2, 3};
static const TilewrightTensorInfo kInput = {"x", {2, 32, 1}, 2, kShape, 24};
static const TilewrightTensorInfo kOutput = {"y", {2, 32, 1}, 2, kShape, 24};
static const char* const kTitles[] = {"first", "second"};
static int instance;

static int32_t create(const TilewrightModelApi* api, const TilewrightModelOptions* options,
                      TilewrightModel** model) {
  (void)api;
  (void)options;
  *model = (TilewrightModel*)&instance;
  return TILEWRIGHT_MODEL_OK;
}
static void destroy(TilewrightModel* model) { (void)model; }
static const char* error(const TilewrightModel* model) {
  (void)model;
  return "a kernel could not get its threads";
}
static int32_t run(TilewrightModel* model, const void* const* inputs, void* const* outputs) {
  (void)model;
  for (int k = 0; k < 6; ++k) ((float*)outputs[0])[k] = ((const float*)inputs[0])[k];
#if TILEWRIGHT_BAD_MODEL == 1
  *(volatile int*)8 = 1;
#elif TILEWRIGHT_BAD_MODEL == 2
  for (volatile int turns = 0;; ++turns) {
  }
#elif TILEWRIGHT_BAD_MODEL == 3
  return TILEWRIGHT_MODEL_FAILED;
#endif
  return TILEWRIGHT_MODEL_OK;
}
static int32_t run_timed(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                         int64_t* step_ns) {
  step_ns[0] = 1;
  step_ns[1] = 2;
  return run(model, inputs, outputs);
}
static int64_t memory(const TilewrightModel* model) {
  (void)model;
  return 64;
}

/* NOLINTNEXTLINE(readability-identifier-naming): the name that the loader looks for */
const TilewrightModelApi tilewright_model = {
    TILEWRIGHT_MODEL_VERSION,
    1,
    "by_hand",
    1,
    1,
    2,
    0,
    &kInput,
    &kOutput,
    kTitles,
    create,
    destroy,
    error,
    run,
    0,
    run_timed,
    memory,
    0,
};
