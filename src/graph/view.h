// Views: nodes whose result consists of bytes of their operand, in place.
//
//   reshape(x: [2,6]; [3,4])                 from byte 0
//   slice(x: f32[5,1,4]; [2,0,0], [2,1,4])   from byte 32: rows of the outermost dimension
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tilewright::graph {

// The offset of the result in the operand, in bytes; nothing if the node is not such a view.
std::optional<int64_t> view_offset(const Graph& graph, const Node& node);

// The stride of a dimension in elements, in a row-major array.
int64_t row_major_stride(const std::vector<int64_t>& extents, size_t dim);

// Whether the elements of an array of `shape` within one of `extents` are contiguous.
bool is_contiguous(const std::vector<int64_t>& shape, const std::vector<int64_t>& extents);

// Whether an output of the Graph is the value, or a view of it.
bool reaches_output(const Graph& graph, const std::vector<std::vector<NodeId>>& uses,
                    ValueId value);

}  // namespace tilewright::graph
