#include "runtime/host/peak.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/check.h"
#include "runtime/host/affinity.h"
#include "runtime/host/buffer.h"
#include "runtime/host/timer.h"
#include "target/host_features.h"

namespace tilewright::runtime {
namespace {

// --- multiply-add: one loop for each vector width ---
//
// Written in assembly so that neither optimization level nor sanitizer changes the measurement. Two
// pipelines of latency 4 or 5 need 10 chains; 24 (or 12 with 16 registers) suffice on all known
// processors. The accumulators start at zero and grow by 1e-12 per step: no denormals, no
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

// The variant that this machine uses.
struct Loops {
  void (*fma)(int64_t) = nullptr;
  int64_t fma_flop = 0;  // per iteration
  std::string_view fma_name;
  void (*copy)(float*, const float*, int64_t) = nullptr;
  float (*sum)(const float*, int64_t) = nullptr;
};

const Loops& loops() {
  static const Loops chosen = [] {
    const FeatureSet features = host_features();
    if (features.has(Feature::Avx512f))
      return Loops{fma_loop_512, 24 * 16 * 2, "avx512f", copy_512, sum_512};
    if (features.has(Feature::Avx2) && features.has(Feature::Fma)) {
      return Loops{fma_loop_256, 24 * 8 * 2, "avx2+fma", copy_256, sum_256};
    }
    return Loops{fma_loop_128, 12 * 4 * 2, "sse2", copy_128, sum_128};
  }();
  return chosen;
}

// --- threads ---

// Runs `body(k)` on `threads` new pinned threads that start together after each has run
// `prepare(k)`. Returns the seconds from the first start to the last end. Throws std::runtime_error
// if a thread cannot be created or its preparation throws.
double seconds_together(int threads, const std::function<void(int)>& prepare,
                        const std::function<void(int)>& body) {
  CHECK(threads >= 1, "{} threads", threads);
  const std::vector<int> cpus = allowed_cpus();
  std::atomic<int> waiting = threads;
  std::atomic<bool> given_up = false;  // threads that cannot start are not waited for
  struct Span {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
  };
  std::vector<Span> spans(static_cast<size_t>(threads));
  std::vector<std::jthread> team;  // joined on every exit
  team.reserve(spans.size());
  for (int k = 0; k < threads; ++k) {
    const auto member = [&, k] {
      pin_current_thread(cpus[static_cast<size_t>(k) % cpus.size()]);
      try {
        prepare(k);
      } catch (const std::exception&) {
        given_up = true;
      }
      waiting.fetch_sub(1);
      while (waiting.load() > 0 && !given_up) std::this_thread::yield();
      if (given_up) return;
      const int64_t begin_ns = now_ns();
      body(k);
      spans[static_cast<size_t>(k)] = {begin_ns, now_ns()};
    };
    try {
      team.emplace_back(member);
    } catch (const std::exception& error) {
      given_up = true;
      throw std::runtime_error(
          fmt::format("cannot start thread {} of {}: {}", k + 1, threads, error.what()));
    }
  }
  for (std::jthread& thread : team) thread.join();
  if (given_up) throw std::runtime_error(fmt::format("no memory for {} threads", threads));
  const int64_t begin_ns = std::ranges::min_element(spans, {}, &Span::begin_ns)->begin_ns;
  const int64_t end_ns = std::ranges::max_element(spans, {}, &Span::end_ns)->end_ns;
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

// The minimum of the results of `run`, called until `seconds` have passed and at least three times.
double best_of(double seconds, const std::function<double()>& run) {
  double best = std::numeric_limits<double>::infinity();
  const int64_t deadline_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
  for (int k = 0; k < 3 || now_ns() < deadline_ns; ++k) best = std::min(best, run());
  return best;
}

}  // namespace

void fma_loop(int64_t iterations) {
  if (iterations > 0) loops().fma(iterations);
}

int64_t fma_flop_per_iteration() { return loops().fma_flop; }

std::string_view fma_instructions() { return loops().fma_name; }

double measure_fma_seconds(int threads, int64_t iterations) {
  constexpr int64_t kWarmUp = 10000;  // powers up the wide vector units and lets the clock settle
  return seconds_together(
      threads, [](int) { fma_loop(kWarmUp); }, [iterations](int) { fma_loop(iterations); });
}

FmaPeak measure_fma_peak(int threads, double seconds) {
  constexpr double kRunSeconds = 0.02;
  constexpr int64_t kProbe = 100000;
  const double probe_seconds = std::max(1e-6, measure_fma_seconds(1, kProbe));
  const int64_t iterations = static_cast<int64_t>(kProbe * kRunSeconds / probe_seconds) + 1;
  const double best = best_of(seconds, [&] { return measure_fma_seconds(threads, iterations); });
  const double flop = static_cast<double>(iterations * fma_flop_per_iteration()) * threads;
  return {.gflops = flop / best * 1e-9};
}

void copy_with_vectors(float* to, const float* from, int64_t count) {
  loops().copy(to, from, count);
}

float sum_with_vectors(const float* from, int64_t count) { return loops().sum(from, count); }

CopyBandwidth measure_copy_bandwidth(int threads, int64_t bytes, double seconds) {
  const int64_t count = std::max<int64_t>(1, bytes / threads / int64_t{sizeof(float)});
  const int64_t part_bytes = count * int64_t{sizeof(float)};
  struct Part {
    AlignedBuffer from;
    AlignedBuffer to;
  };
  std::vector<Part> parts(static_cast<size_t>(threads));
  const auto touch = [&](int k) {
    Part& part = parts[static_cast<size_t>(k)];
    if (part.from.data() != nullptr) return;
    part = {AlignedBuffer(part_bytes), AlignedBuffer(part_bytes)};
    std::memset(part.from.data(), 1, static_cast<size_t>(part_bytes));
    std::memset(part.to.data(), 2, static_cast<size_t>(part_bytes));
  };
  const double gigabytes = 2e-9 * static_cast<double>(part_bytes) * threads;
  const double with_memcpy = best_of(seconds / 2, [&] {
    return seconds_together(threads, touch, [&](int k) {
      const Part& part = parts[static_cast<size_t>(k)];
      std::memcpy(part.to.data(), part.from.data(), static_cast<size_t>(part_bytes));
    });
  });
  const double with_vectors = best_of(seconds / 2, [&] {
    return seconds_together(threads, touch, [&](int k) {
      const Part& part = parts[static_cast<size_t>(k)];
      copy_with_vectors(part.to.as<float>(), part.from.as<float>(), count);
    });
  });
  return {.memcpy_gb_per_s = gigabytes / with_memcpy, .vector_gb_per_s = gigabytes / with_vectors};
}

}  // namespace tilewright::runtime
