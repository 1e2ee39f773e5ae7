#include "cost/forest_vectors.h"

#include <algorithm>

#include "base/check.h"
#include "target/host_vectors.h"

#if TILEWRIGHT_HAS_VECTORS_512
#include <immintrin.h>
#endif

namespace tilewright::cost {

#if TILEWRIGHT_HAS_VECTORS_512

namespace {

using Tree = ForestScorer::PaddedTree;

// Transposes 16 rows: the value of lane l in column used[s] -> turned[16 * s + l]. Lanes beyond
// `count` repeat the last row.
TILEWRIGHT_VECTORS_512 void turn(const PaddedForest& forest, const float* rows, size_t count,
                                 float* turned) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i row = _mm512_min_epi32(lane, _mm512_set1_epi32(static_cast<int>(count) - 1));
  const __m512i offset = _mm512_mullo_epi32(row, _mm512_set1_epi32(static_cast<int>(forest.width)));
  for (size_t slot = 0; slot < forest.used.size(); ++slot) {
    const __m512 values = _mm512_i32gather_ps(offset, rows + forest.used[slot], sizeof(float));
    _mm512_store_ps(turned + slot * kBlock, values);
  }
}

// The index 0..7 of each lane below the upper three levels.
TILEWRIGHT_VECTORS_512 inline __m512i upper_index(const Tree& tree, const float* turned) {
  const auto goes_right = [&](__mmask16 among, size_t node) TILEWRIGHT_VECTORS_512 {
    return _mm512_mask_cmp_ps_mask(among, _mm512_load_ps(turned + tree.upper_column[node]),
                                   _mm512_set1_ps(tree.upper_threshold[node]), _CMP_NLT_UQ);
  };
  const auto both = [](__mmask16 a, __mmask16 b)
                        TILEWRIGHT_VECTORS_512 { return _kor_mask16(a, b); };
  const __mmask16 r0 = goes_right(0xffff, 0);
  const __mmask16 l0 = _knot_mask16(r0);
  const __mmask16 r1 = both(goes_right(l0, 1), goes_right(r0, 2));
  const __mmask16 l1 = _knot_mask16(r1);
  const __mmask16 r2 =
      both(both(goes_right(_kand_mask16(l0, l1), 3), goes_right(_kand_mask16(l0, r1), 4)),
           both(goes_right(_kand_mask16(r0, l1), 5), goes_right(_kand_mask16(r0, r1), 6)));
  __m512i index = _mm512_maskz_set1_epi32(r0, 4);
  index = _mm512_mask_or_epi32(index, r1, index, _mm512_set1_epi32(2));
  return _mm512_mask_or_epi32(index, r2, index, _mm512_set1_epi32(1));
}

// One level down: 2 * index, plus one if the lane goes right.
TILEWRIGHT_VECTORS_512 inline __m512i next_index(__m512i index, __m512i column, __m512 threshold,
                                                 const float* turned, __m512i lane) {
  const __m512 value = _mm512_i32gather_ps(_mm512_add_epi32(column, lane), turned, sizeof(float));
  const __mmask16 right = _mm512_cmp_ps_mask(value, threshold, _CMP_NLT_UQ);
  const __m512i twice = _mm512_add_epi32(index, index);
  return _mm512_mask_or_epi32(twice, right, twice, _mm512_set1_epi32(1));
}

// The contribution of the tree to each lane.
TILEWRIGHT_VECTORS_512 inline __m512 leaf_of(const Tree& tree, const float* turned, __m512i lane) {
  __m512i index = upper_index(tree, turned);
  index = next_index(index, _mm512_permutexvar_epi32(index, _mm512_load_si512(tree.column3)),
                     _mm512_permutexvar_ps(index, _mm512_load_ps(tree.threshold3)), turned, lane);
  index = next_index(index, _mm512_permutexvar_epi32(index, _mm512_load_si512(tree.column4)),
                     _mm512_permutexvar_ps(index, _mm512_load_ps(tree.threshold4)), turned, lane);
  index = next_index(index,
                     _mm512_permutex2var_epi32(_mm512_load_si512(tree.column5), index,
                                               _mm512_load_si512(tree.column5 + 16)),
                     _mm512_permutex2var_ps(_mm512_load_ps(tree.threshold5), index,
                                            _mm512_load_ps(tree.threshold5 + 16)),
                     turned, lane);
  const __m512 low =
      _mm512_permutex2var_ps(_mm512_load_ps(tree.leaf), index, _mm512_load_ps(tree.leaf + 16));
  const __m512 high =
      _mm512_permutex2var_ps(_mm512_load_ps(tree.leaf + 32), index, _mm512_load_ps(tree.leaf + 48));
  const __mmask16 is_high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
  return _mm512_mask_blend_ps(is_high, low, high);
}

// Two blocks at a time: a tree is loaded once for both, and their gathers overlap.
TILEWRIGHT_VECTORS_512 void score_two(const PaddedForest& forest, const float* turned,
                                      float* scores) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const float* const second = turned + forest.used.size() * kBlock;
  __m512 sum0 = _mm512_setzero_ps(), sum1 = _mm512_setzero_ps();
  for (const Tree& tree : forest.trees) {
    sum0 = _mm512_add_ps(sum0, leaf_of(tree, turned, lane));
    sum1 = _mm512_add_ps(sum1, leaf_of(tree, second, lane));
  }
  _mm512_storeu_ps(scores, sum0);
  _mm512_storeu_ps(scores + kBlock, sum1);
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
