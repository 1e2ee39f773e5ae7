// Arithmetic on shapes and axes from the file. Throws a Refusal if they do not fit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/shape_text.h"

namespace tilewright::onnx {

using Shape = std::vector<int64_t>;

inline constexpr int64_t kMaxExtent = int64_t{1} << 40;  // and elements of an input

using graph::shape_text;

// A name from the file for messages: clean (base/utf8.h) and truncated.
std::string shown(std::string_view name);

// -1 is the last of `rank` dimensions.
size_t resolve_axis(int64_t axis, size_t rank);
Shape resolve_axes(std::span<const int64_t> axes, size_t rank);  // ascending, distinct

// The product. Throws a Refusal if it overflows.
int64_t product(std::span<const int64_t> extents);

Shape broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b);
Shape ones(size_t rank);
Shape iota(size_t rank);  // 0, 1, 2 ...

}  // namespace tilewright::onnx
