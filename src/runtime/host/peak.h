// What this machine can do at most: float multiply-adds in registers, and copying and reading of
// memory. Every share of peak that we print is measured against these, at the same number of
// threads.
//
// Units: 1 GFLOP/s = 1e9 float operations a second, a multiply-add counting as two; 1 GB/s = 1e9
// bytes a second, a copied byte counting as two (read and written). Each measuring thread is new
// and pinned to a cpu of its own while there are enough; the caller's affinity is left alone. A
// measurement throws std::runtime_error if the machine does not give the threads or the memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilewright::runtime {

// --- multiply-add ---

// Runs the loop on the calling thread: independent chains of multiply-adds in the widest vector
// registers this machine has, without touching memory. About 12 cycles an iteration.
void fma_loop(int64_t iterations);

int64_t fma_flop_per_iteration();     // of fma_loop on this machine
std::string_view fma_instructions();  // their instruction set

// Wall time from the common start of `threads` threads, each running fma_loop(iterations), to the
// end of the last.
double measure_fma_seconds(int threads, int64_t iterations);

struct FmaPeak {
  double gflops = 0;  // f32, all threads together

  bool operator==(const FmaPeak&) const = default;
};

// The best of several runs within about `seconds`.
FmaPeak measure_fma_peak(int threads, double seconds = 0.3);

// --- copying ---

// Copies with vector loads and ordinary (not streaming) vector stores, as a kernel would. The
// ranges do not overlap; any alignment.
void copy_with_vectors(float* to, const float* from, int64_t count);

struct CopyBandwidth {
  double memcpy_gb_per_s = 0;
  double vector_gb_per_s = 0;

  double best() const {
    return memcpy_gb_per_s > vector_gb_per_s ? memcpy_gb_per_s : vector_gb_per_s;
  }
  bool operator==(const CopyBandwidth&) const = default;
};

// Each thread copies its own part of `bytes` (the size of source and destination each, all threads
// together) that it was first to touch. The best of several runs within about `seconds`.
CopyBandwidth measure_copy_bandwidth(int threads, int64_t bytes, double seconds = 0.5);

// --- reading ---

// The sum of `count` floats at any alignment, in an order of its own: what reads memory and does
// next to nothing else.
float sum_with_vectors(const float* from, int64_t count);

}  // namespace tilewright::runtime
