// The operators that can be imported: one table per family, in convert/. An operator is found by
// domain and name; converters check the version where the meaning has changed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "onnx/conversion.h"

namespace tilewright::onnx {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

struct ConverterRow {
  std::string_view op;
  Converter convert = nullptr;
  std::string_view domain = {};  // empty: ONNX's own
};

std::span<const ConverterRow> all_converters();  // ordered by domain and name
Converter find_converter(std::string_view domain, std::string_view op);  // null if there is none

// The families.
std::span<const ConverterRow> elementwise_converters();
std::span<const ConverterRow> activation_converters();
std::span<const ConverterRow> shape_converters();
std::span<const ConverterRow> constant_converters();
std::span<const ConverterRow> slice_converters();
std::span<const ConverterRow> index_converters();
std::span<const ConverterRow> resize_converters();
std::span<const ConverterRow> grid_converters();
std::span<const ConverterRow> reduce_converters();
std::span<const ConverterRow> norm_converters();
std::span<const ConverterRow> pool_converters();
std::span<const ConverterRow> conv_converters();
std::span<const ConverterRow> contract_converters();
std::span<const ConverterRow> einsum_converters();
std::span<const ConverterRow> quantize_converters();
std::span<const ConverterRow> attention_converters();
std::span<const ConverterRow> sequence_converters();
std::span<const ConverterRow> top_k_converters();
std::span<const ConverterRow> recurrent_converters();
std::span<const ConverterRow> microsoft_converters();

}  // namespace tilewright::onnx
