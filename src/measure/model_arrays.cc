#include "measure/model_arrays.h"

#include "ir/element.h"

namespace tilewright::measure {

ir::Scalar scalar_of(TilewrightDataType type) {
  const bool wide = type.bits == 64;
  switch (type.code) {
    case 0:
      return wide              ? ir::Scalar::I64
             : type.bits == 32 ? ir::Scalar::I32
             : type.bits == 16 ? ir::Scalar::I16
                               : ir::Scalar::I8;
    case 1:
      return type.bits == 32 ? ir::Scalar::U32 : type.bits == 16 ? ir::Scalar::U16 : ir::Scalar::U8;
    case 4:
      return ir::Scalar::BF16;
    case 6:
      return ir::Scalar::Bool;
    default:
      return wide ? ir::Scalar::F64 : type.bits == 32 ? ir::Scalar::F32 : ir::Scalar::F16;
  }
}

void fill_random(const TilewrightTensorInfo& info, runtime::AlignedBuffer& buffer, Rng& rng) {
  const ir::Scalar element = scalar_of(info.type);
  int64_t elements = 1;
  for (int32_t k = 0; k < info.rank; ++k) elements *= info.shape[k];
  for (int64_t k = 0; k < elements; ++k) {
    const double value =
        ir::is_float(element) ? 2 * rng.uniform() - 1 : static_cast<double>(rng.below(2));
    ir::write_element(buffer.as<std::byte>(), element, k, value);
  }
}

ModelArrays allocate_arrays(const TilewrightModelApi& api) {
  ModelArrays arrays;
  for (int32_t k = 0; k < api.input_count; ++k) {
    arrays.inputs.emplace_back(api.inputs[k].bytes);
    arrays.input_pointers.push_back(arrays.inputs.back().data());
  }
  for (int32_t k = 0; k < api.output_count; ++k) {
    arrays.outputs.emplace_back(api.outputs[k].bytes);
    arrays.output_pointers.push_back(arrays.outputs.back().data());
  }
  return arrays;
}

ModelArrays random_arrays(const TilewrightModelApi& api, uint64_t seed) {
  ModelArrays arrays = allocate_arrays(api);
  Rng rng(seed);
  for (size_t k = 0; k < arrays.inputs.size(); ++k) {
    fill_random(api.inputs[k], arrays.inputs[k], rng);
  }
  return arrays;
}

}  // namespace tilewright::measure
