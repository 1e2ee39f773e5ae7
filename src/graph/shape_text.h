// Shapes in messages: `[1,3,224,224]`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tilewright::graph {

std::string shape_text(std::span<const int64_t> shape);

}  // namespace tilewright::graph
