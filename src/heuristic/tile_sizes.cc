#include "heuristic/tile_sizes.h"

#include <algorithm>

#include "base/rounding.h"

namespace tilewright::heuristic {
namespace {

// `sizes` ascends.
std::span<const int64_t> up_to(int64_t limit, std::span<const int64_t> sizes) {
  const auto end = std::ranges::upper_bound(sizes, limit);
  return sizes.first(static_cast<size_t>(end - sizes.begin()));
}

}  // namespace

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
  return ceil_div(extent, ceil_div(extent, high));
}

std::span<const int64_t> powers_of_two(int64_t limit) {
  static constexpr int64_t kSizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  return up_to(limit, kSizes);
}

std::span<const int64_t> block_sizes(int64_t limit) {
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
  return up_to(limit, kSizes);
}

std::span<const int64_t> register_rows(int64_t limit) {
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 12, 14, 16};
  return up_to(limit, kSizes);
}

bool wastes_little(int64_t extent, int64_t size) {
  return 10 * ceil_div(extent, size) * size <= 13 * extent;
}

bool may_tile(int64_t extent, int64_t size, bool tails, int64_t whole) {
  return extent % size == 0 || (tails && whole * size <= extent);
}

int64_t vector_tile(int64_t extent, int lanes, int vectors) {
  const int64_t limit = int64_t{lanes} * vectors;
  if (extent <= limit) return extent;
  for (int count = vectors; count > vectors / 2; --count) {
    if (extent % (int64_t{lanes} * count) == 0) return int64_t{lanes} * count;
  }
  return limit;
}

int64_t sums_in_registers(const Target& target) {
  constexpr int kOthers = 4;  // factors and addresses
  return target.vector_registers() - kOthers;
}

}  // namespace tilewright::heuristic
