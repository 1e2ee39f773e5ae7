// Elements of tensors in memory: their number and size, and reading and writing one as a double.
// Memory is row-major; types as ir/type.h says. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "te/dag.h"

namespace tilewright::measure {

std::vector<int64_t> shape_of(const te::Tensor& tensor);
int64_t elements_of(const te::Tensor& tensor);
size_t bytes_of(const te::Tensor& tensor);

// An I64 beyond 2^53 is rounded.
double read_element(const std::byte* data, ir::Scalar type, int64_t offset);
// As ir::convert; integers wrap.
void write_element(std::byte* data, ir::Scalar type, int64_t offset, double value);

// The indices of the element at a flat offset.
std::vector<int64_t> indices_of(const te::Tensor& tensor, int64_t offset);
std::string print_element(const te::Tensor& tensor, int64_t offset);  // `Y[0, 3, 1]`

}  // namespace tilewright::measure
