// Arithmetic on constants for passes: in f64, rounded to the element type. For weights (one pass
// over the bytes) and small tables of factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/constant.h"

namespace tilewright::graph {

std::vector<double> numbers_of(const Constant& constant);
Constant of_numbers(const TensorType& type, std::span<const double> numbers);  // rounded

// Dimension i of the result is dimension perm[i] of the constant.
Constant transposed(const Constant& constant, std::span<const int64_t> perm);

// Multiplies each element by the factor of its index along the axis.
Constant scaled(const Constant& constant, size_t axis, std::span<const double> factors);
Constant scaled(const Constant& constant, double factor);

// a op b with NumPy's broadcasting, for constants of the same float type.
enum class Combine : uint8_t { Add, Sub, Mul, Div };
Constant combined(const Constant& a, const Constant& b, Combine how);

bool all_equal(const Constant& constant, double value);
bool all_finite(const Constant& constant);

}  // namespace tilewright::graph
