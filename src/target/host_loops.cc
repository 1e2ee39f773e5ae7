#include "target/host_loops.h"

#include <immintrin.h>

#include <numeric>

#include "target/host_features.h"

namespace tilewright {
namespace {

// --- multiply-add: one loop for each vector width ---
//
// Written in assembly, so that optimization level and sanitizers do not change the measured code.
// Two pipes of latency 4 or 5 need 10 chains; 24 (or 12, where there are 16 registers) hide it on
// anything known. The accumulators start at zero and grow by 1e-12 per step: no denormals, no
// infinities.

constexpr float kSmall = 1e-6f;

__attribute__((target("avx512f"))) void fma_loop_512(int64_t iterations) {
  __asm__ volatile(
      "vbroadcastss %[small], %%zmm30\n"
      "vbroadcastss %[small], %%zmm31\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n"
      ".endr\n"
      ".p2align 6\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm\\r\n"
      ".endr\n"
      "dec %[count]\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : [count] "+r"(iterations)
      : [small] "m"(kSmall)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19",
        "xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31");
}

__attribute__((target("avx2,fma"))) void fma_loop_256(int64_t iterations) {
  __asm__ volatile(
      "vbroadcastss %[small], %%ymm14\n"
      "vbroadcastss %[small], %%ymm15\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vxorps %%ymm\\r, %%ymm\\r, %%ymm\\r\n"
      ".endr\n"
      ".p2align 6\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r\n"
      ".endr\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r\n"
      ".endr\n"
      "dec %[count]\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : [count] "+r"(iterations)
      : [small] "m"(kSmall)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm14", "xmm15");
}

// Without FMA, a multiply and an add replace it.
void fma_loop_128(int64_t iterations) {
  __asm__ volatile(
      "movss %[small], %%xmm14\n"
      "shufps $0, %%xmm14, %%xmm14\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "xorps %%xmm\\r, %%xmm\\r\n"
      ".endr\n"
      ".p2align 6\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "movaps %%xmm14, %%xmm15\n"
      "mulps %%xmm14, %%xmm15\n"
      "addps %%xmm15, %%xmm\\r\n"
      ".endr\n"
      "dec %[count]\n"
      "jnz 1b\n"
      : [count] "+r"(iterations)
      : [small] "m"(kSmall)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm14", "xmm15");
}

// --- copying: one loop for each vector width ---

__attribute__((target("avx512f"))) void copy_512(float* to, const float* from, int64_t count) {
  int64_t k = 0;
  for (; k + 64 <= count; k += 64) {
    const __m512 a = _mm512_loadu_ps(from + k);
    const __m512 b = _mm512_loadu_ps(from + k + 16);
    const __m512 c = _mm512_loadu_ps(from + k + 32);
    const __m512 d = _mm512_loadu_ps(from + k + 48);
    _mm512_storeu_ps(to + k, a);
    _mm512_storeu_ps(to + k + 16, b);
    _mm512_storeu_ps(to + k + 32, c);
    _mm512_storeu_ps(to + k + 48, d);
  }
  for (; k < count; ++k) to[k] = from[k];
}

__attribute__((target("avx"))) void copy_256(float* to, const float* from, int64_t count) {
  int64_t k = 0;
  for (; k + 32 <= count; k += 32) {
    const __m256 a = _mm256_loadu_ps(from + k);
    const __m256 b = _mm256_loadu_ps(from + k + 8);
    const __m256 c = _mm256_loadu_ps(from + k + 16);
    const __m256 d = _mm256_loadu_ps(from + k + 24);
    _mm256_storeu_ps(to + k, a);
    _mm256_storeu_ps(to + k + 8, b);
    _mm256_storeu_ps(to + k + 16, c);
    _mm256_storeu_ps(to + k + 24, d);
  }
  for (; k < count; ++k) to[k] = from[k];
}

void copy_128(float* to, const float* from, int64_t count) {
  int64_t k = 0;
  for (; k + 16 <= count; k += 16) {
    const __m128 a = _mm_loadu_ps(from + k);
    const __m128 b = _mm_loadu_ps(from + k + 4);
    const __m128 c = _mm_loadu_ps(from + k + 8);
    const __m128 d = _mm_loadu_ps(from + k + 12);
    _mm_storeu_ps(to + k, a);
    _mm_storeu_ps(to + k + 4, b);
    _mm_storeu_ps(to + k + 8, c);
    _mm_storeu_ps(to + k + 12, d);
  }
  for (; k < count; ++k) to[k] = from[k];
}

// --- summing: one loop for each vector width; four chains keep up with any cache but the first ---

__attribute__((target("avx512f"))) float sum_512(const float* from, int64_t count) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  int64_t k = 0;
  for (; k + 64 <= count; k += 64) {
    a = _mm512_add_ps(a, _mm512_loadu_ps(from + k));
    b = _mm512_add_ps(b, _mm512_loadu_ps(from + k + 16));
    c = _mm512_add_ps(c, _mm512_loadu_ps(from + k + 32));
    d = _mm512_add_ps(d, _mm512_loadu_ps(from + k + 48));
  }
  float lanes[16];
  _mm512_storeu_ps(lanes, _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
  return std::accumulate(from + k, from + count, std::accumulate(lanes, lanes + 16, 0.0f));
}

__attribute__((target("avx"))) float sum_256(const float* from, int64_t count) {
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
  int64_t k = 0;
  for (; k + 32 <= count; k += 32) {
    a = _mm256_add_ps(a, _mm256_loadu_ps(from + k));
    b = _mm256_add_ps(b, _mm256_loadu_ps(from + k + 8));
    c = _mm256_add_ps(c, _mm256_loadu_ps(from + k + 16));
    d = _mm256_add_ps(d, _mm256_loadu_ps(from + k + 24));
  }
  float lanes[8];
  _mm256_storeu_ps(lanes, _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
  return std::accumulate(from + k, from + count, std::accumulate(lanes, lanes + 8, 0.0f));
}

float sum_128(const float* from, int64_t count) {
  __m128 a = _mm_setzero_ps(), b = a, c = a, d = a;
  int64_t k = 0;
  for (; k + 16 <= count; k += 16) {
    a = _mm_add_ps(a, _mm_loadu_ps(from + k));
    b = _mm_add_ps(b, _mm_loadu_ps(from + k + 4));
    c = _mm_add_ps(c, _mm_loadu_ps(from + k + 8));
    d = _mm_add_ps(d, _mm_loadu_ps(from + k + 12));
  }
  float lanes[4];
  _mm_storeu_ps(lanes, _mm_add_ps(_mm_add_ps(a, b), _mm_add_ps(c, d)));
  return std::accumulate(from + k, from + count, std::accumulate(lanes, lanes + 4, 0.0f));
}

}  // namespace

const HostLoops& host_loops() {
  static const HostLoops chosen = [] {
    const FeatureSet features = host_features();
    if (features.has(Feature::Avx512f))
      return HostLoops{fma_loop_512, 24 * 16 * 2, "avx512f", copy_512, sum_512};
    if (features.has(Feature::Avx2) && features.has(Feature::Fma)) {
      return HostLoops{fma_loop_256, 24 * 8 * 2, "avx2+fma", copy_256, sum_256};
    }
    return HostLoops{fma_loop_128, 12 * 4 * 2, "sse2", copy_128, sum_128};
  }();
  return chosen;
}

}  // namespace tilewright
