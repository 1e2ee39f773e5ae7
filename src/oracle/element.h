// Elements of row-major tensors: their number, size and indices. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "te/dag.h"
#include "te/shape_of.h"

namespace tilewright::oracle {

int64_t elements_of(const te::Tensor& tensor);
size_t bytes_of(const te::Tensor& tensor);

// The indices of the element at a flat offset.
std::vector<int64_t> indices_of(const te::Tensor& tensor, int64_t offset);
std::string print_element(const te::Tensor& tensor, int64_t offset);  // `Y[0, 3, 1]`
std::string print_value(double value);                                // NaN has no sign

}  // namespace tilewright::oracle
