// OperandBytes: the operands of a workload in memory, row-major, in the order of
// Workload::operands. The caller of the oracle owns the memory.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright::oracle {

using OperandBytes = std::span<const std::span<std::byte>>;

}  // namespace tilewright::oracle
