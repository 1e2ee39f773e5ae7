// Denormals are flushed or kept by value, on the caller and on threads of the pool, and the float
// control of a thread is as before after every way out.
#include "runtime/abi/float_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "runtime/abi/thread_pool.h"
#include "runtime/host/float_scope.h"

namespace tilewright::runtime {
namespace {

constexpr float kDenormal = std::numeric_limits<float>::min() / 4;

// As the processor computes it now.
float half_of(float value) {
  volatile float operand = value;
  volatile float half = 0.5F;
  return operand * half;
}

// Its bits: a comparison takes denormals for zeros where they are flushed.
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
  // Of a program that flushes them itself.
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

// Each of the two threads of a job runs one task.
struct Meeting {
  std::atomic<int> arrived{0};
  uint32_t bits[2] = {};
};

void halve(void* context, int64_t /*iteration*/, int32_t worker) {
  auto& meeting = *static_cast<Meeting*>(context);
  meeting.bits[worker] = bits_of(half_of(kDenormal));
  meeting.arrived.fetch_add(1);
  while (meeting.arrived.load() < 2) std::this_thread::yield();
}

// Also the other way round, on the same threads.
TEST(FloatControl, TasksRunAsTheCallerDoes) {
  TilewrightPool pool{};
  const TilewrightPoolOptions options{.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
  ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
  for (const bool denormals : {false, true, true, false}) {
    const FloatScope scope(denormals);
    Meeting meeting;
    ASSERT_EQ(tilewright_kernel_parallel_for(&pool, 2, 2, halve, &meeting), 0);
    for (const uint32_t bits : meeting.bits) EXPECT_EQ(bits, denormals ? kHalf : 0U);
  }
  tilewright_pool_close(&pool);
}

}  // namespace
}  // namespace tilewright::runtime
