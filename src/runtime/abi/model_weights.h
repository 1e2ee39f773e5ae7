/* Weights files, mapped and shared by the instances of a model. Internal to the runtime. */
#ifndef TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_
#define TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_

#include <stddef.h>

#include "runtime/abi/model_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the file at `path`, or, if that is null, the file named in the table, in the folder of the
 * library or of the program, and sets `constants` to its first constant. Otherwise returns a
 * TILEWRIGHT_MODEL_* code, with the reason in `text`. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_weights_open(const TilewrightModelApi* api,
                                                           const char* path, const char** constants,
                                                           char* text, size_t text_bytes);
/* Call it once per open; null: no effect. */
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_weights_close(const char* constants);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_ */
