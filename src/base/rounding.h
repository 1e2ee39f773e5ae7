// Whole numbers rounded up: ceil_div(7, 3) = 3, round_up(7, 3) = 9. Neither is negative, b is not
// 0, and a + b fits the type.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tilewright {

// By 1, which tiles and strides often are, nothing is divided.
template <std::integral Int>
constexpr Int ceil_div(Int a, std::type_identity_t<Int> b) {
  return b == 1 ? a : (a + b - 1) / b;
}

template <std::integral Int>
constexpr Int round_up(Int value, std::type_identity_t<Int> multiple) {
  return ceil_div(value, multiple) * multiple;
}

}  // namespace tilewright
