// Arithmetic on constants that passes do themselves: element by element in f64, rounded to the
// element type. Nothing here is elementwise in the size of a kernel's loop nest; it is meant for
// weights (one walk over the bytes) and for small tables of factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/constant.h"

namespace tilewright::graph {

std::vector<double> numbers_of(const Constant& constant);
Constant of_numbers(const TensorType& type, std::span<const double> numbers);  // rounded

// Dimension i of the result is dimension perm[i] of the constant. Bytes are moved.
Constant transposed(const Constant& constant, std::span<const int64_t> perm);

// Each element times the factor of its place on the axis.
Constant scaled(const Constant& constant, size_t axis, std::span<const double> factors);
Constant scaled(const Constant& constant, double factor);

// a op b with NumPy's broadcast, for constants of one float type.
enum class Combine : uint8_t { Add, Sub, Mul, Div };
Constant combined(const Constant& a, const Constant& b, Combine how);

bool all_equal(const Constant& constant, double value);
bool all_finite(const Constant& constant);

}  // namespace tilewright::graph
