// Vectors of 512 bits for hot loops of this process: types and the operations that those loops
// need, each one instruction, inlined into functions marked TILEWRIGHT_VECTORS_512
// (target/host_vectors.h). Empty where TILEWRIGHT_HAS_VECTORS_512 is 0.
//
//   TILEWRIGHT_VECTORS_512 void add_one(float* to) { store(to, add(load(to), splat(1.0f))); }
#pragma once

#include "target/host_vectors.h"

#if TILEWRIGHT_HAS_VECTORS_512

#include <immintrin.h>

#include <cstdint>

#define TILEWRIGHT_VECTOR_OPERATION [[gnu::always_inline]] TILEWRIGHT_VECTORS_512 inline

namespace tilewright::vectors_512 {

using F32x16 = __m512;
using I32x16 = __m512i;
using Mask16 = __mmask16;  // a bit per lane

TILEWRIGHT_VECTOR_OPERATION I32x16 lane_numbers() {
  return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}
TILEWRIGHT_VECTOR_OPERATION I32x16 splat(int value) { return _mm512_set1_epi32(value); }
TILEWRIGHT_VECTOR_OPERATION F32x16 splat(float value) { return _mm512_set1_ps(value); }
TILEWRIGHT_VECTOR_OPERATION I32x16 splat_where(Mask16 lanes, int value) {  // else 0
  return _mm512_maskz_set1_epi32(lanes, value);
}

// Aligned to 64 bytes.
TILEWRIGHT_VECTOR_OPERATION F32x16 load(const float* from) { return _mm512_load_ps(from); }
TILEWRIGHT_VECTOR_OPERATION I32x16 load(const int32_t* from) { return _mm512_load_si512(from); }
TILEWRIGHT_VECTOR_OPERATION void store(float* to, F32x16 a) { _mm512_store_ps(to, a); }
TILEWRIGHT_VECTOR_OPERATION void store_unaligned(float* to, F32x16 a) { _mm512_storeu_ps(to, a); }
TILEWRIGHT_VECTOR_OPERATION F32x16 gather(const float* from, I32x16 index) {
  return _mm512_i32gather_ps(index, from, sizeof(float));
}

TILEWRIGHT_VECTOR_OPERATION F32x16 add(F32x16 a, F32x16 b) { return _mm512_add_ps(a, b); }
TILEWRIGHT_VECTOR_OPERATION I32x16 add(I32x16 a, I32x16 b) { return _mm512_add_epi32(a, b); }
TILEWRIGHT_VECTOR_OPERATION I32x16 mul(I32x16 a, I32x16 b) { return _mm512_mullo_epi32(a, b); }
TILEWRIGHT_VECTOR_OPERATION I32x16 min(I32x16 a, I32x16 b) { return _mm512_min_epi32(a, b); }
TILEWRIGHT_VECTOR_OPERATION I32x16 or_where(Mask16 lanes, I32x16 a, I32x16 b) {  // else a
  return _mm512_mask_or_epi32(a, lanes, a, b);
}

// Lane l is lane index[l] of `table`, or of the two tables one after the other.
TILEWRIGHT_VECTOR_OPERATION I32x16 lookup(I32x16 index, I32x16 table) {
  return _mm512_permutexvar_epi32(index, table);
}
TILEWRIGHT_VECTOR_OPERATION F32x16 lookup(I32x16 index, F32x16 table) {
  return _mm512_permutexvar_ps(index, table);
}
TILEWRIGHT_VECTOR_OPERATION I32x16 lookup(I32x16 index, I32x16 low, I32x16 high) {
  return _mm512_permutex2var_epi32(low, index, high);
}
TILEWRIGHT_VECTOR_OPERATION F32x16 lookup(I32x16 index, F32x16 low, F32x16 high) {
  return _mm512_permutex2var_ps(low, index, high);
}

// Lanes where a < b does not hold, NaN among them; of `among` only.
TILEWRIGHT_VECTOR_OPERATION Mask16 not_less(F32x16 a, F32x16 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ);
}
TILEWRIGHT_VECTOR_OPERATION Mask16 not_less(Mask16 among, F32x16 a, F32x16 b) {
  return _mm512_mask_cmp_ps_mask(among, a, b, _CMP_NLT_UQ);
}
TILEWRIGHT_VECTOR_OPERATION Mask16 common_bits(I32x16 a, I32x16 b) {  // (a & b) != 0
  return _mm512_test_epi32_mask(a, b);
}
TILEWRIGHT_VECTOR_OPERATION Mask16 mask_and(Mask16 a, Mask16 b) { return _kand_mask16(a, b); }
TILEWRIGHT_VECTOR_OPERATION Mask16 mask_or(Mask16 a, Mask16 b) { return _kor_mask16(a, b); }
TILEWRIGHT_VECTOR_OPERATION Mask16 mask_not(Mask16 a) { return _knot_mask16(a); }
TILEWRIGHT_VECTOR_OPERATION F32x16 select(Mask16 lanes, F32x16 if_true, F32x16 if_false) {
  return _mm512_mask_blend_ps(lanes, if_false, if_true);
}

}  // namespace tilewright::vectors_512

#undef TILEWRIGHT_VECTOR_OPERATION

#endif
