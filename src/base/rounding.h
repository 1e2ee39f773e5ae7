// Integers rounded up: ceil_div(7, 3) = 3, round_up(7, 3) = 9. Operands are not negative, the
// divisor is not 0, and their sum fits the type.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tilewright {

// Does not divide by 1, which tile sizes and strides often are.
template <std::integral Int>
constexpr Int ceil_div(Int a, std::type_identity_t<Int> b) {
  return b == 1 ? a : (a + b - 1) / b;
}

template <std::integral Int>
constexpr Int round_up(Int value, std::type_identity_t<Int> multiple) {
  return ceil_div(value, multiple) * multiple;
}

}  // namespace tilewright
