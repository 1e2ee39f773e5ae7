// What a right result is (DESIGN, Policies: right before fast). Inputs are drawn so that results
// are exact wherever the Dag proves it: small integers whose sums, products, minima and maxima stay
// within the mantissa, so that every order of summation gives the same bits; elsewhere they are
// ordinary numbers and outputs have a tolerance, by a running error analysis of sampled elements.
//
// The reference is the output of the default schedule. It is believed after corners, tails and
// random elements of it agree with te/eval, and the whole of it agrees with another schedule's
// output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/shared_operands.h"
#include "task/workload.h"

namespace tilewright::measure {

// Per output operand (0 for others): by how much an element may differ from the reference.
struct Tolerance {
  std::vector<double> absolute;  // 0: bit by bit
  std::vector<double> relative;  // of the reference's magnitude, besides

  bool operator==(const Tolerance&) const = default;
};

// Writes the inputs and constants; the same workload and seed give the same bytes.
Status draw_inputs(const Workload& workload, uint64_t seed, SharedOperands& operands);

// Holds the outputs that stand in `operands` against the definition, at sampled elements; gives
// what later comparisons allow, or an error that names the first wrong element, expected and
// actual.
Result<Tolerance> judge_reference(const Workload& workload, const SharedOperands& operands);

// The first element of an output that is not as expected: `Y[0, 3, 1] is 0.25, expected 0.5; 17 of
// 4096 elements are wrong`. Empty when all are right. `actual` is row-major, as the reference.
std::string find_difference(const Workload& workload, size_t operand, const Tolerance& tolerance,
                            std::span<const std::byte> expected, std::span<const std::byte> actual);

}  // namespace tilewright::measure
