#include "onnx/converter_table.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace tilewright::onnx {
namespace {

auto key_of(const ConverterRow& row) { return std::tie(row.domain, row.op); }

std::vector<ConverterRow> collect() {
  std::vector<ConverterRow> all;
  for (const auto family : {elementwise_converters, activation_converters, shape_converters,
                            constant_converters,    slice_converters,      index_converters,
                            resize_converters,      grid_converters,       reduce_converters,
                            norm_converters,        pool_converters,       conv_converters,
                            contract_converters,    einsum_converters,     quantize_converters,
                            attention_converters,   sequence_converters,   top_k_converters,
                            recurrent_converters,   microsoft_converters}) {
    const std::span<const ConverterRow> rows = family();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(all, {}, key_of);
  CHECK(std::ranges::adjacent_find(all, {}, key_of) == all.end(), "two converters of one operator");
  return all;
}

}  // namespace

std::span<const ConverterRow> all_converters() {
  static const std::vector<ConverterRow> all = collect();
  return all;
}

Converter find_converter(std::string_view domain, std::string_view op) {
  const std::span<const ConverterRow> all = all_converters();
  const auto at = std::ranges::lower_bound(all, std::tie(domain, op), {}, key_of);
  return at != all.end() && at->domain == domain && at->op == op ? at->convert : nullptr;
}

}  // namespace tilewright::onnx
