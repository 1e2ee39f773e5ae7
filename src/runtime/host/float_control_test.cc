// Denormals are flushed or kept by value, on the caller and on threads of the pool, and the float
// control of a thread is as before after every way out.
#include "runtime/abi/float_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "runtime/abi/thread_pool.h"
#include "runtime/host/float_scope.h"

namespace tilewright::runtime {
namespace {

constexpr float kDenormal = std::numeric_limits<float>::min() / 4;

// Computed at run time, in the current mode.
float half_of(float value) {
  volatile float operand = value;
  volatile float half = 0.5F;
  return operand * half;
}

// Compares bits: a comparison of floats treats denormals as zeros while they are flushed.
uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
const uint32_t kHalf = bits_of(kDenormal / 2);

TEST(FloatControl, FlushesOrKeepsWithinAScope) {
  const uint64_t before = float_control();
  {
    const FloatScope flushed(false);
    EXPECT_EQ(bits_of(half_of(kDenormal)), 0U);
    EXPECT_EQ(bits_of(half_of(-kDenormal)), bits_of(-0.0F));
    {
      const FloatScope kept(true);
      EXPECT_EQ(bits_of(half_of(kDenormal)), kHalf);
    }
    EXPECT_EQ(bits_of(half_of(kDenormal)), 0U);
  }
  EXPECT_EQ(float_control(), before);
}

TEST(FloatControl, TheWholeRegisterIsRestored) {
  const uint64_t usual = float_control();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
  const uint64_t before = float_control();
  for (const bool denormals : {false, true}) {
    const FloatScope scope(denormals);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);  // only denormals are ours
    half_of(std::numeric_limits<float>::min());
    half_of(std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_EQ(float_control(), before);
  // The caller flushes denormals itself.
  float_control_set_mode(TILEWRIGHT_FLOAT_FLUSH);
  const uint64_t flushing = float_control();
  EXPECT_NE(flushing, before);
  {
    const FloatScope kept(true);
    EXPECT_EQ(float_control_mode(), 0U);
  }
  EXPECT_EQ(float_control(), flushing);
  float_control_set(usual);
}

TEST(FloatControl, IsRestoredWhenAnExceptionPasses) {
  const uint64_t before = float_control();
  try {
    const FloatScope scope(false);
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(float_control(), before);
  }
}

// Each thread of a job runs one task.
struct Meeting {
  int threads = 2;
  std::atomic<int> arrived{0};
  uint32_t bits[3] = {};
};

void halve(void* context, int64_t /*iteration*/, int32_t worker) {
  auto& meeting = *static_cast<Meeting*>(context);
  meeting.bits[worker] = bits_of(half_of(kDenormal));
  meeting.arrived.fetch_add(1);
  while (meeting.arrived.load() < meeting.threads) std::this_thread::yield();
}

// A job on each thread of a pool, or without a pool, in this mode.
void expect_mode(void* pool, int threads, bool denormals) {
  const FloatScope scope(denormals);
  const uint64_t before = float_control_mode();
  Meeting meeting{.threads = threads};
  ASSERT_EQ(tilewright_kernel_parallel_for(pool, threads, threads, halve, &meeting), 0);
  for (int k = 0; k < threads; ++k) EXPECT_EQ(meeting.bits[k], denormals ? kHalf : 0U) << k;
  EXPECT_EQ(float_control_mode(), before);
}

class PooledFloatControl : public testing::TestWithParam<TilewrightPoolOptions> {};

// Also in the reverse order, on the same threads after they have slept.
TEST_P(PooledFloatControl, TasksUseTheModeOfTheCaller) {
  TilewrightPool pool{};
  ASSERT_EQ(tilewright_pool_open(&pool, &GetParam()), 0);
  const uint64_t before = float_control();
  for (const bool denormals : {false, true, true, false}) {
    for (int threads = 1; threads <= GetParam().threads; ++threads) {
      expect_mode(&pool, threads, denormals);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(float_control(), before);
  tilewright_pool_close(&pool);
}

constexpr TilewrightPoolOptions kPools[] = {
    {.threads = 1, .spin_us = 0, .pin = TILEWRIGHT_POOL_PIN_NONE},
    {.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE},
    {.threads = 2, .spin_us = 100'000, .pin = TILEWRIGHT_POOL_PIN_EACH},
    {.threads = 3, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_IF_ALL},
};
INSTANTIATE_TEST_SUITE_P(Pools, PooledFloatControl, testing::ValuesIn(kPools));

TEST(FloatControl, OnTheCallerAloneAndOnThePoolOfTheProcess) {
  for (const bool denormals : {false, true}) {
    expect_mode(nullptr, 1, denormals);
    if (tilewright_pool_threads(tilewright_process_pool()) > 1) expect_mode(nullptr, 2, denormals);
  }
}

// The pool is made by a thread that flushes: its workers begin with that.
TEST(FloatControl, WorkersAdoptTheModeOfTheCaller) {
  TilewrightPool pool{};
  const TilewrightPoolOptions options{.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
  {
    const FloatScope scope(false);
    ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
  }
  expect_mode(&pool, 2, true);
  expect_mode(&pool, 2, false);
  tilewright_pool_close(&pool);
}

// Concurrent callers in both modes: one gets the pool, the others run their tasks alone.
TEST(FloatControl, ConcurrentCallersInBothModes) {
  TilewrightPool pool{};
  const TilewrightPoolOptions options{.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
  ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
  constexpr int64_t kTasks = 16;
  const auto call = [&pool](bool denormals) {
    const FloatScope scope(denormals);
    for (int round = 0; round < 200; ++round) {
      uint32_t bits[kTasks] = {};
      const auto task = [](void* context, int64_t iteration, int32_t) {
        static_cast<uint32_t*>(context)[iteration] = bits_of(half_of(kDenormal));
      };
      ASSERT_EQ(tilewright_kernel_parallel_for(&pool, 2, kTasks, task, bits), 0);
      for (const uint32_t one : bits) ASSERT_EQ(one, denormals ? kHalf : 0U);
    }
  };
  std::thread keeping(call, true);
  std::thread flushing(call, false);
  call(true);
  keeping.join();
  flushing.join();
  tilewright_pool_close(&pool);
}

}  // namespace
}  // namespace tilewright::runtime
