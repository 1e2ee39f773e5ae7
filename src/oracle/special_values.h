// Special values: a second set of inputs, with NaN, infinities and denormals in a few places of the
// first one. Results that depend on none of them are as before; the others follow from the
// semantics of ir/type.h and ir/expr.h, which define each operation on such values. The order of a
// sum does not change whether it is NaN or infinity.
//
//   matmul, NaN in A[2, 5]: row 2 of C is NaN, all other elements are as before
//
// With the permission winograd there are only denormals: the transforms multiply by 0 and may omit
// that, so it is unspecified which elements near a NaN are NaN.
//
// Constants keep their values: a kernel may rely on them being finite (docs/decisions.md). So do
// inputs that decide an index or an integer divisor, inputs of few elements, integers, and inputs
// that are not row-major or are parts of larger arrays. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "oracle/difference.h"
#include "oracle/operand_bytes.h"
#include "task/workload.h"

namespace tilewright::oracle {

struct SpecialValue {
  size_t operand = 0;  // index in Workload::operands
  int64_t offset = 0;  // of the element, row-major
  double value = 0;
};

// At distinct elements, ordered by operand and offset. Depends only on the content of the workload.
// Empty if no input can have one.
std::vector<SpecialValue> special_values(const Workload& workload);

// The tolerance of results for these inputs: that of the first set, but for float outputs at least
// some multiples of the least normal f32, the effect of a denormal.
Tolerance special_tolerance(const Workload& workload, const Tolerance& usual);

// Compares outputs with the definition at some of the elements that the special values changed.
// `operands` are those of the first set, with its outputs; `outputs` is indexed in the same way.
// Where rounding decides whether a result is a number, an infinity or NaN, each is accepted.
// Without special values there is nothing to compare.
Status judge_special(const Workload& workload, OperandBytes operands, OperandBytes outputs);

}  // namespace tilewright::oracle
