#include "cost/forest_vectors.h"

#include <algorithm>

#include "base/check.h"
#include "target/host_vectors_512.h"

namespace tilewright::cost {

#if TILEWRIGHT_HAS_VECTORS_512

namespace {

using Tree = ForestScorer::PaddedTree;
using vectors_512::F32x16;
using vectors_512::I32x16;
using vectors_512::Mask16;

// Transposes 16 rows: the value of lane l in column used[s] -> turned[16 * s + l]. Lanes beyond
// `count` repeat the last row.
TILEWRIGHT_VECTORS_512 void turn(const PaddedForest& forest, const float* rows, size_t count,
                                 float* turned) {
  const I32x16 last = vectors_512::splat(static_cast<int>(count) - 1);
  const I32x16 row = vectors_512::min(vectors_512::lane_numbers(), last);
  const I32x16 offset = vectors_512::mul(row, vectors_512::splat(static_cast<int>(forest.width)));
  for (size_t slot = 0; slot < forest.used.size(); ++slot) {
    const F32x16 values = vectors_512::gather(rows + forest.used[slot], offset);
    vectors_512::store(turned + slot * kBlock, values);
  }
}

// Index 0..7 of each lane below the upper three levels.
TILEWRIGHT_VECTORS_512 inline I32x16 upper_index(const Tree& tree, const float* turned) {
  using vectors_512::mask_and;
  using vectors_512::mask_not;
  using vectors_512::mask_or;
  const auto goes_right = [&](Mask16 among, size_t node) TILEWRIGHT_VECTORS_512 {
    return vectors_512::not_less(among, vectors_512::load(turned + tree.upper_column[node]),
                                 vectors_512::splat(tree.upper_threshold[node]));
  };
  const Mask16 r0 = goes_right(0xffff, 0);
  const Mask16 l0 = mask_not(r0);
  const Mask16 r1 = mask_or(goes_right(l0, 1), goes_right(r0, 2));
  const Mask16 l1 = mask_not(r1);
  const Mask16 r2 =
      mask_or(mask_or(goes_right(mask_and(l0, l1), 3), goes_right(mask_and(l0, r1), 4)),
              mask_or(goes_right(mask_and(r0, l1), 5), goes_right(mask_and(r0, r1), 6)));
  I32x16 index = vectors_512::splat_where(r0, 4);
  index = vectors_512::or_where(r1, index, vectors_512::splat(2));
  return vectors_512::or_where(r2, index, vectors_512::splat(1));
}

// One level down: 2 * index, one more where the lane goes right.
TILEWRIGHT_VECTORS_512 inline I32x16 next_index(I32x16 index, I32x16 column, F32x16 threshold,
                                                const float* turned, I32x16 lane) {
  const F32x16 value = vectors_512::gather(turned, vectors_512::add(column, lane));
  const Mask16 right = vectors_512::not_less(value, threshold);
  const I32x16 twice = vectors_512::add(index, index);
  return vectors_512::or_where(right, twice, vectors_512::splat(1));
}

// The value that the tree adds to each lane.
TILEWRIGHT_VECTORS_512 inline F32x16 leaf_of(const Tree& tree, const float* turned, I32x16 lane) {
  using vectors_512::load;
  using vectors_512::lookup;
  I32x16 index = upper_index(tree, turned);
  index = next_index(index, lookup(index, load(tree.column3)), lookup(index, load(tree.threshold3)),
                     turned, lane);
  index = next_index(index, lookup(index, load(tree.column4)), lookup(index, load(tree.threshold4)),
                     turned, lane);
  index =
      next_index(index, lookup(index, load(tree.column5), load(tree.column5 + 16)),
                 lookup(index, load(tree.threshold5), load(tree.threshold5 + 16)), turned, lane);
  const F32x16 low = lookup(index, load(tree.leaf), load(tree.leaf + 16));
  const F32x16 high = lookup(index, load(tree.leaf + 32), load(tree.leaf + 48));
  return vectors_512::select(vectors_512::common_bits(index, vectors_512::splat(32)), high, low);
}

// Two blocks at a time: a tree is loaded once for both, and their gathers overlap.
TILEWRIGHT_VECTORS_512 void score_two(const PaddedForest& forest, const float* turned,
                                      float* scores) {
  const I32x16 lane = vectors_512::lane_numbers();
  const float* const second = turned + forest.used.size() * kBlock;
  F32x16 sum0 = vectors_512::splat(0.0f), sum1 = sum0;
  for (const Tree& tree : forest.trees) {
    sum0 = vectors_512::add(sum0, leaf_of(tree, turned, lane));
    sum1 = vectors_512::add(sum1, leaf_of(tree, second, lane));
  }
  vectors_512::store_unaligned(scores, sum0);
  vectors_512::store_unaligned(scores + kBlock, sum1);
}

}  // namespace

void score_in_vectors(const PaddedForest& forest, const float* rows, std::span<float> scores) {
  constexpr size_t kStep = 2 * kBlock;
  struct alignas(64) Line {
    float values[kBlock];
  };
  // No column is used if every tree is a single leaf; such trees still read line 0.
  std::vector<Line> turned(2 * std::max<size_t>(forest.used.size(), 1));
  for (size_t first = 0; first < scores.size(); first += kStep) {
    const size_t count = std::min(kStep, scores.size() - first);
    const float* const from = rows + first * forest.width;
    const size_t in_first = std::min(count, kBlock);
    turn(forest, from, in_first, turned.front().values);
    if (count > kBlock) {
      turn(forest, from + kBlock * forest.width, count - kBlock, turned[forest.used.size()].values);
    }
    float block[kStep];
    score_two(forest, turned.front().values, block);
    std::copy_n(block, count, scores.data() + first);
  }
}

#else

void score_in_vectors(const PaddedForest&, const float*, std::span<float>) {
  CHECK(false, "this machine has no vectors of 512 bits");
}

#endif

}  // namespace tilewright::cost
