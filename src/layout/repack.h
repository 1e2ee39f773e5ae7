// Copies between a row-major array and an array in another layout. The arrays do not overlap; the
// packed one has layout.elements() elements. The layout holds the shape (Layout::holds).
//
//   repack([2, 3], [d1:3, d0:2], {a b c d e f})  ->  {a d b e c f}
//
// An offset of a layout is a sum of one term for each logical dimension, so the terms are tabulated
// once and an element costs one addition. Memory is traversed in tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/layout.h"
#include "te/dag.h"

namespace tilewright::layout {

// Padding is zero-filled.
void repack(std::span<const int64_t> shape, const Layout& layout, int element_bytes,
            const void* row_major, void* packed);
void unpack(std::span<const int64_t> shape, const Layout& layout, int element_bytes,
            const void* packed, void* row_major);

// The same for the array of a tensor, which takes bytes_of(tensor, layout) bytes when packed.
size_t bytes_of(const te::Tensor& tensor, const Layout& layout);
void repack(const te::Tensor& tensor, const Layout& layout, const void* row_major, void* packed);
void unpack(const te::Tensor& tensor, const Layout& layout, const void* packed, void* row_major);

}  // namespace tilewright::layout
