/* Files of weights, mapped and shared by the instances of a model. Of the run time only. */
#ifndef TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_
#define TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_

#include <stddef.h>

#include "runtime/abi/model_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the file at `path`, or, where that is null, the one that the table names, beside the library
 * or the program; `constants` is then the first byte of them. Else a TILEWRIGHT_MODEL_* code, with
 * the reason in `text`. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_weights_open(const TilewrightModelApi* api,
                                                           const char* path, const char** constants,
                                                           char* text, size_t text_bytes);
/* Once for each time it was opened; null: nothing. */
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_weights_close(const char* constants);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_MODEL_WEIGHTS_H_ */
