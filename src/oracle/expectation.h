// Defines a correct result. Inputs are drawn so that results are exact wherever the Dag proves it:
// small integers whose sums, products, minima and maxima stay within the mantissa, so that every
// order of summation gives the same bits. Otherwise inputs are ordinary numbers, and outputs have a
// tolerance from a running error analysis of sampled elements.
//
// The reference is the output of the default schedule. The caller (measure) runs it and passes in
// the bytes. The reference is accepted if its corners, tails and random elements agree with
// te/eval. The caller then compares all of it with the output of another schedule
// (oracle/difference.h).
#pragma once

#include "base/result.h"
#include "oracle/difference.h"
#include "oracle/operand_bytes.h"
#include "task/workload.h"

namespace tilewright::oracle {

// Compares the outputs in `operands` with the definition at sampled elements. Returns the tolerance
// for later comparisons, or an error that names the first wrong element with its expected and
// actual value.
Result<Tolerance> judge_reference(const Workload& workload, OperandBytes operands);

}  // namespace tilewright::oracle
