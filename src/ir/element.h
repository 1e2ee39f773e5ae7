// Reads and writes one element of an array as a double, with the conversions of ir/type.h. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/type.h"

namespace tilewright::ir {

// An I64 beyond 2^53 is rounded.
double read_element(const std::byte* data, Scalar type, int64_t offset);
// Converts as ir::convert; integers wrap.
void write_element(std::byte* data, Scalar type, int64_t offset, double value);

}  // namespace tilewright::ir
