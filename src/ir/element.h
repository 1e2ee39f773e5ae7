// One element of an array in memory, as a double: types as ir/type.h says. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/type.h"

namespace tilewright::ir {

// An I64 beyond 2^53 is rounded.
double read_element(const std::byte* data, Scalar type, int64_t offset);
// As convert; integers wrap.
void write_element(std::byte* data, Scalar type, int64_t offset, double value);

}  // namespace tilewright::ir
