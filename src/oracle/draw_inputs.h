// Fills inputs and constants of a workload with values that make results exact where the Dag allows
// it (oracle/input_values.h). The same workload and seed give the same bytes.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "oracle/operand_bytes.h"
#include "task/workload.h"

namespace tilewright::oracle {

// Leaves outputs unchanged. An error if no inputs keep indices in bounds.
Status draw_inputs(const Workload& workload, uint64_t seed, OperandBytes operands);

}  // namespace tilewright::oracle
