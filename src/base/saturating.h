// Integer arithmetic that ends at the largest number instead of overflowing.
#pragma once

#include <cstdint>
#include <limits>

namespace tilewright {

// The product of a range of natural numbers; 1 if it is empty. The first overflow ends it: a zero
// after that is not seen.
template <class Numbers>
constexpr int64_t saturating_product(const Numbers& numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) {
    if (__builtin_mul_overflow(product, number, &product)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return product;
}

}  // namespace tilewright
