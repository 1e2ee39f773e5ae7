// Memory of a workload's operands, one block of bytes each in the storage format of its type; every
// engine gets a copy of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_tree.h"
#include "task/workload.h"

namespace tilewright::testing {

using Memory = std::vector<std::vector<uint8_t>>;  // by operand

// An element as a number; every value of our types but large I64s fits.
double element_at(const std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset);

// Row-major inputs, and outputs that start as NaN. Numbers are small integers, so that sums and
// products of them are exact; where the permissions allow no other rounding than the definition's,
// fractions. A few are denormal. Tensors that another one is indexed by hold indices of it.
Memory make_operands(const Workload& workload, uint64_t seed);

// Row-major elements as a layout has them: zeros, or NaN, lie between.
std::vector<uint8_t> packed(const std::vector<int64_t>& shape, const layout::Layout& layout,
                            ir::Scalar element, const std::vector<uint8_t>& row_major);
std::vector<uint8_t> laid_out(const std::vector<int64_t>& shape, const layout::Layout& layout,
                              ir::Scalar element, const std::vector<uint8_t>& row_major);

// The same with constants laid out as the schedule packs them, and parts within their arrays.
Memory packed_operands(const Workload& workload, const schedule::LoopTree& tree,
                       const Memory& operands);

// Neither a sum nor a product may be rounded in another way than the definition says.
bool is_strict(const FloatPermissions& permissions);

size_t operand_index(const Workload& workload, te::TensorId tensor);

}  // namespace tilewright::testing
