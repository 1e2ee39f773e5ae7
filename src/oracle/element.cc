#include "oracle/element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tilewright::oracle {

int64_t elements_of(const te::Tensor& tensor) {
  int64_t elements = 1;
  for (const te::Extent& extent : tensor.shape) elements *= extent.high;
  return elements;
}

size_t bytes_of(const te::Tensor& tensor) {
  return static_cast<size_t>(elements_of(tensor) * ir::bytes_of(tensor.element));
}

std::vector<int64_t> indices_of(const te::Tensor& tensor, int64_t offset) {
  std::vector<int64_t> indices(tensor.shape.size());
  for (size_t d = indices.size(); d-- > 0;) {
    indices[d] = offset % tensor.shape[d].high;
    offset /= tensor.shape[d].high;
  }
  return indices;
}

std::string print_element(const te::Tensor& tensor, int64_t offset) {
  return fmt::format("{}[{}]", tensor.name.text(), fmt::join(indices_of(tensor, offset), ", "));
}

std::string print_value(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

}  // namespace tilewright::oracle
