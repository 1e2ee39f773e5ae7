#include "heuristic/tile_sizes.h"

#include "base/rounding.h"

namespace tilewright::heuristic {

std::vector<int64_t> divisors_of(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

int64_t divisor_within(int64_t extent, int64_t low, int64_t high) {
  for (int64_t factor = high; factor >= low; --factor) {
    if (extent % factor == 0) return factor;
  }
  return high;
}

bool wastes_little(int64_t extent, int64_t size) {
  return 10 * ceil_div(extent, size) * size <= 13 * extent;
}

int64_t vector_tile(int64_t extent, int lanes, int vectors) {
  const int64_t most = int64_t{lanes} * vectors;
  if (extent <= most) return extent;
  for (int count = vectors; count > vectors / 2; --count) {
    if (extent % (int64_t{lanes} * count) == 0) return int64_t{lanes} * count;
  }
  return most;
}

int64_t sums_in_registers(const Target& target) {
  constexpr int kOthers = 4;  // factors and addresses
  return target.vector_registers() - kOthers;
}

}  // namespace tilewright::heuristic
