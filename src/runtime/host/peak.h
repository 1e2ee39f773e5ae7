// The measured peaks of this machine: float multiply-adds in registers, and copying and reading of
// memory. Every printed share of the peak is relative to these, at the same number of threads.
//
// Units: 1 GFLOP/s = 1e9 float operations per second, where a multiply-add counts as two; 1 GB/s =
// 1e9 bytes per second, where a copied byte counts as two (read and write). Each measuring thread
// is new and pinned to a separate CPU while there are enough, of separate cores first; the affinity
// of the caller does not change. A measurement throws std::runtime_error if the machine cannot
// provide the threads or the memory. A stop ends it after the current run; its result is then less
// precise.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/stop_token.h"

namespace tilewright::runtime {

// --- multiply-add ---

// Runs on the calling thread: independent chains of multiply-adds in the widest vector registers of
// this machine, without memory accesses. About 12 cycles per iteration.
void fma_loop(int64_t iterations);

int64_t fma_flop_per_iteration();     // of fma_loop on this machine
std::string_view fma_instructions();  // their instruction set

// Wall time from the common start of `threads` threads, each running fma_loop(iterations), to the
// end of the last.
double measure_fma_seconds(int threads, int64_t iterations);

struct FmaPeak {
  double gflops = 0;  // f32, sum over all threads

  bool operator==(const FmaPeak&) const = default;
};

// The best of several runs within about `seconds`.
FmaPeak measure_fma_peak(int threads, double seconds = 0.3, const StopToken& stop = {});

// --- copying ---

// Copies with vector loads and ordinary (temporal) vector stores, as a kernel would. The ranges do
// not overlap; any alignment.
void copy_with_vectors(float* to, const float* from, int64_t count);

struct CopyBandwidth {
  double memcpy_gb_per_s = 0;
  double vector_gb_per_s = 0;

  double best() const {
    return memcpy_gb_per_s > vector_gb_per_s ? memcpy_gb_per_s : vector_gb_per_s;
  }
  bool operator==(const CopyBandwidth&) const = default;
};

// Each thread copies a separate part of `bytes` (the size of source and of destination, over all
// threads), which it touched first; a small part several times in succession, so that the start of
// the threads does not count. The best of several runs within about `seconds`.
CopyBandwidth measure_copy_bandwidth(int threads, int64_t bytes, double seconds = 0.5,
                                     const StopToken& stop = {});

// --- reading ---

// The sum of `count` floats at any alignment, in unspecified order: reads memory and does little
// else.
float sum_with_vectors(const float* from, int64_t count);

// GB/s: like measure_copy_bandwidth, but each thread sums its part of `bytes`.
double measure_read_bandwidth(int threads, int64_t bytes, double seconds = 0.5,
                              const StopToken& stop = {});

}  // namespace tilewright::runtime
