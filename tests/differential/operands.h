// Memory of a workload's operands, one block of bytes each in the storage format of its type; every
// engine gets a separate copy.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_tree.h"
#include "task/workload.h"

namespace tilewright::testing {

using Memory = std::vector<std::vector<uint8_t>>;  // by operand

// An element as a number: exact for all types, except for large I64 values.
double element_at(const std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset);

// Row-major inputs, and outputs that start as NaN. Numbers are small integers, so that sums and
// products of them are exact; if the permissions allow no rounding other than the definition's,
// they are fractions. A few are denormal. Tensors of indices hold valid indices.
Memory make_operands(const Workload& workload, uint64_t seed);

// Row-major elements converted to a layout, with zeros or NaN in its gaps.
std::vector<uint8_t> packed(const std::vector<int64_t>& shape, const layout::Layout& layout,
                            ir::Scalar element, const std::vector<uint8_t>& row_major);
std::vector<uint8_t> laid_out(const std::vector<int64_t>& shape, const layout::Layout& layout,
                              ir::Scalar element, const std::vector<uint8_t>& row_major);

// The same with constants packed as in the schedule, and parts within their arrays.
Memory packed_operands(const Workload& workload, const schedule::LoopTree& tree,
                       const Memory& operands);

// True if sums and products must be rounded as in the definition.
bool is_strict(const FloatPermissions& permissions);

size_t operand_index(const Workload& workload, te::TensorId tensor);

}  // namespace tilewright::testing
