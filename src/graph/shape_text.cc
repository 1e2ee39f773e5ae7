#include "graph/shape_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::graph {

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace tilewright::graph
