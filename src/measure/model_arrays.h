// ModelArrays: input and output arrays of a compiled model, aligned for its kernels. The pointers
// are arguments for TilewrightModelApi::run and are valid as long as the arrays. Movable, not
// copyable.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "ir/type.h"
#include "runtime/abi/model_abi.h"
#include "runtime/host/buffer.h"

namespace tilewright::measure {

struct ModelArrays {
  std::vector<runtime::AlignedBuffer> inputs, outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
};

// Arrays of the required sizes, with uninitialized inputs.
ModelArrays allocate_arrays(const TilewrightModelApi& api);
// The same with random inputs.
ModelArrays random_arrays(const TilewrightModelApi& api, uint64_t seed);

// Floats in [-1, 1), integers and bools in [0, 2).
void fill_random(const TilewrightTensorInfo& info, runtime::AlignedBuffer& buffer, Rng& rng);

ir::Scalar scalar_of(TilewrightDataType type);

}  // namespace tilewright::measure
