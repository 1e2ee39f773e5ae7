// What a right result is. Inputs are drawn so that results are exact wherever the Dag proves it:
// small integers whose sums, products, minima and maxima stay within the mantissa, so that every
// order of summation gives the same bits. Elsewhere inputs are ordinary numbers, and outputs have a
// tolerance from a running error analysis of sampled elements.
//
// The reference is the output of the default schedule. The oracle does not run it: the caller does
// (measure), and hands in the bytes. The reference is accepted when corners, tails and random
// elements of it agree with te/eval. The caller then compares the whole of it with another
// schedule's output (oracle/difference.h).
#pragma once

#include "base/result.h"
#include "oracle/difference.h"
#include "oracle/operand_bytes.h"
#include "task/workload.h"

namespace tilewright::oracle {

// Compares the outputs in `operands` with the definition at sampled elements. Gives the tolerance
// of later comparisons, or an error that names the first wrong element, expected and actual.
Result<Tolerance> judge_reference(const Workload& workload, OperandBytes operands);

}  // namespace tilewright::oracle
