// Wide vectors for hot loops of this process: attributes that let the compiler use them in one
// function, and a test whether this machine executes them. Unrelated to generated kernels.
//
//   TILEWRIGHT_VECTORS_256 void scale_256(float* row) { scale_by_blocks(row); }
//   void scale(float* row) { (host_has_vectors_256() ? scale_256 : scale_plain)(row); }
//
// The attributes do not enable fused multiply-adds: all versions give the same bits. Where
// TILEWRIGHT_HAS_VECTORS_512 is 1, target/host_vectors_512.h has the vectors of 512 bits.
#pragma once

#include "target/host_features.h"

namespace tilewright {

inline bool host_has_vectors_256() { return host_features().has(Feature::Avx2); }
inline bool host_has_vectors_512() {
  return host_features().has(Feature::Avx512f) && host_features().has(Feature::Avx512dq);
}

}  // namespace tilewright

#if defined(__x86_64__)

#define TILEWRIGHT_HAS_VECTORS_512 1
#define TILEWRIGHT_VECTORS_256 __attribute__((target("avx2")))
#define TILEWRIGHT_VECTORS_512 __attribute__((target("avx512f,avx512dq")))

#else

#define TILEWRIGHT_HAS_VECTORS_512 0
#define TILEWRIGHT_VECTORS_256
#define TILEWRIGHT_VECTORS_512

#endif
