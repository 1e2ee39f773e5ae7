#include "codegen/llvm/transposed.h"

namespace tilewright::codegen {
namespace {

constexpr size_t kPart = 4;

// For two rows a and b of n lanes, in each part: half of its lanes from `first` on, alternating
// `group` lanes of a and the same of b.
std::vector<int> interleaved(size_t n, size_t first, size_t group) {
  std::vector<int> lanes;
  lanes.reserve(n);
  for (size_t part = 0; part < n; part += kPart) {
    for (size_t at = first; at < first + kPart / 2; at += group) {
      for (const size_t row : {size_t{0}, n}) {
        for (size_t k = 0; k < group; ++k) lanes.push_back(static_cast<int>(row + part + at + k));
      }
    }
  }
  return lanes;
}

// Every second part of a, then of b.
std::vector<int> every_second(size_t n, size_t first) {
  std::vector<int> lanes;
  lanes.reserve(n);
  for (size_t part = first; part < 2 * n / kPart; part += 2) {
    for (size_t k = 0; k < kPart; ++k) lanes.push_back(static_cast<int>(part * kPart + k));
  }
  return lanes;
}

}  // namespace

std::vector<Value> transposed(llvm::IRBuilder<>& builder, std::vector<Value> rows) {
  const size_t n = rows.size();
  const auto shuffle = [&](Value a, Value b, const std::vector<int>& lanes) {
    return builder.CreateShuffleVector(a, b, lanes);
  };
  for (size_t k = 0; k < n; k += kPart) {
    Value* row = &rows[k];
    const std::vector<int> low = interleaved(n, 0, 1), high = interleaved(n, 2, 1);
    Value ab = shuffle(row[0], row[1], low), ab_high = shuffle(row[0], row[1], high);
    Value cd = shuffle(row[2], row[3], low), cd_high = shuffle(row[2], row[3], high);
    const std::vector<int> low_pairs = interleaved(n, 0, 2), high_pairs = interleaved(n, 2, 2);
    row[0] = shuffle(ab, cd, low_pairs);
    row[1] = shuffle(ab, cd, high_pairs);
    row[2] = shuffle(ab_high, cd_high, low_pairs);
    row[3] = shuffle(ab_high, cd_high, high_pairs);
  }
  // Now part p of rows[4 g + j] is column 4 p + j of rows 4 g .. 4 g + 3.
  const std::vector<int> even = every_second(n, 0), odd = every_second(n, 1);
  for (size_t distance = kPart; distance < n; distance *= 2) {
    for (size_t k = 0; k < n; ++k) {
      if ((k & distance) != 0) continue;
      Value a = rows[k], b = rows[k + distance];
      rows[k] = shuffle(a, b, even);
      rows[k + distance] = shuffle(a, b, odd);
    }
  }
  return rows;
}

}  // namespace tilewright::codegen
