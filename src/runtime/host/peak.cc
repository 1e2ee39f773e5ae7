#include "runtime/host/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/check.h"
#include "runtime/host/affinity.h"
#include "runtime/host/buffer.h"
#include "runtime/host/timer.h"
#include "target/host_loops.h"
#include "target/machine.h"

namespace tilewright::runtime {
namespace {

// --- threads ---

// Runs `body(k)` on `threads` new pinned threads that start together after each has run
// `prepare(k)`. Returns the seconds from the first start to the last end. Throws std::runtime_error
// if a thread cannot be created or its preparation throws.
double seconds_together(int threads, const std::function<void(int)>& prepare,
                        const std::function<void(int)>& body) {
  CHECK(threads >= 1, "{} threads", threads);
  const std::vector<int> cpus = cpus_by_core();
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

// The minimum of the results of `run`, called until `seconds` have passed and at least three times;
// once after a stop.
double best_of(double seconds, const StopToken& stop, const std::function<double()>& run) {
  double best = std::numeric_limits<double>::infinity();
  const int64_t deadline_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
  for (int k = 0; k < 3 || now_ns() < deadline_ns; ++k) {
    best = std::min(best, run());
    if (stop.requested()) break;
  }
  return best;
}

// The parts of an array that threads pass over, each its own.
struct ThreadParts {
  static constexpr int64_t kPassedBytes = int64_t{8} << 20;  // by a thread in one run, at least

  ThreadParts(int threads, int64_t all_bytes)
      : threads(threads),
        count(std::max<int64_t>(1, all_bytes / threads / int64_t{sizeof(float)})),
        passes(std::max<int64_t>(1, kPassedBytes / bytes())) {}

  int64_t bytes() const { return count * int64_t{sizeof(float)}; }
  double gigabytes() const {  // passed over in one run, by all threads
    return 1e-9 * static_cast<double>(bytes() * passes) * threads;
  }
  void repeat(const auto& pass) const {
    for (int64_t k = 0; k < passes; ++k) {
      pass();
      __asm__ volatile("" ::: "memory");  // each pass reads and writes memory again
    }
  }

  int threads;
  int64_t count;  // floats of a part
  int64_t passes;
};

AlignedBuffer touched_buffer(int64_t bytes) {
  AlignedBuffer buffer(bytes);
  std::memset(buffer.data(), 1, static_cast<size_t>(bytes));
  return buffer;
}

}  // namespace

void fma_loop(int64_t iterations) {
  if (iterations > 0) host_loops().fma(iterations);
}

int64_t fma_flop_per_iteration() { return host_loops().fma_flop; }

std::string_view fma_instructions() { return host_loops().fma_instructions; }

double measure_fma_seconds(int threads, int64_t iterations) {
  constexpr int64_t kWarmUp = 10000;  // powers up the wide vector units and lets the clock settle
  return seconds_together(
      threads, [](int) { fma_loop(kWarmUp); }, [iterations](int) { fma_loop(iterations); });
}

FmaPeak measure_fma_peak(int threads, double seconds, const StopToken& stop) {
  constexpr double kRunSeconds = 0.02;
  constexpr int64_t kProbe = 100000;
  const double probe_seconds = std::max(1e-6, measure_fma_seconds(1, kProbe));
  const int64_t iterations = static_cast<int64_t>(kProbe * kRunSeconds / probe_seconds) + 1;
  const double best =
      best_of(seconds, stop, [&] { return measure_fma_seconds(threads, iterations); });
  const double flop = static_cast<double>(iterations * fma_flop_per_iteration()) * threads;
  return {.gflops = flop / best * 1e-9};
}

void copy_with_vectors(float* to, const float* from, int64_t count) {
  host_loops().copy(to, from, count);
}

float sum_with_vectors(const float* from, int64_t count) { return host_loops().sum(from, count); }

CopyBandwidth measure_copy_bandwidth(int threads, int64_t bytes, double seconds,
                                     const StopToken& stop) {
  const ThreadParts parts(threads, bytes);
  struct CopyBuffers {
    AlignedBuffer from;
    AlignedBuffer to;
  };
  std::vector<CopyBuffers> copies(static_cast<size_t>(threads));
  const auto touch = [&](int k) {
    CopyBuffers& copy = copies[static_cast<size_t>(k)];
    if (copy.from.data() == nullptr) {
      copy = {.from = touched_buffer(parts.bytes()), .to = touched_buffer(parts.bytes())};
    }
  };
  const double with_memcpy = best_of(seconds / 2, stop, [&] {
    return seconds_together(threads, touch, [&](int k) {
      const CopyBuffers& copy = copies[static_cast<size_t>(k)];
      parts.repeat([&] {
        std::memcpy(copy.to.data(), copy.from.data(), static_cast<size_t>(parts.bytes()));
      });
    });
  });
  const double with_vectors = best_of(seconds / 2, stop, [&] {
    return seconds_together(threads, touch, [&](int k) {
      const CopyBuffers& copy = copies[static_cast<size_t>(k)];
      parts.repeat(
          [&] { copy_with_vectors(copy.to.as<float>(), copy.from.as<float>(), parts.count); });
    });
  });
  const double gigabytes = 2 * parts.gigabytes();
  return {.memcpy_gb_per_s = gigabytes / with_memcpy, .vector_gb_per_s = gigabytes / with_vectors};
}

double measure_read_bandwidth(int threads, int64_t bytes, double seconds, const StopToken& stop) {
  const ThreadParts parts(threads, bytes);
  std::vector<AlignedBuffer> buffers(static_cast<size_t>(threads));
  const auto touch = [&](int k) {
    AlignedBuffer& buffer = buffers[static_cast<size_t>(k)];
    if (buffer.data() == nullptr) buffer = touched_buffer(parts.bytes());
  };
  const double best = best_of(seconds, stop, [&] {
    return seconds_together(threads, touch, [&](int k) {
      const auto* from = buffers[static_cast<size_t>(k)].as<float>();
      parts.repeat(
          [&] { [[maybe_unused]] const volatile float sum = sum_with_vectors(from, parts.count); });
    });
  });
  return parts.gigabytes() / best;
}

}  // namespace tilewright::runtime
