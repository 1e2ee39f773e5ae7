// A host program that brings its own threads: it defines tilewright_parallel_for, and kernels run
// their parallel loops through that instead of the pool of the runtime.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "codegen/back_ends/bound_kernel_testing.h"
#include "runtime/abi/float_control.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/abi/thread_pool.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace {

struct Request {
  void* pool;
  int32_t threads;
  int64_t iterations;
};
std::vector<Request> requests;
int32_t answer = 0;
bool on_a_thread = false;     // tasks run on a thread of the host's
uint64_t control_before = 0;  // its float control, and that after the tasks
uint64_t control_after = 0;

}  // namespace

extern "C" int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                           TilewrightTask task, void* context) {
  requests.push_back({pool, threads, iterations});
  const auto run = [&] {
    for (int64_t k = iterations; k-- > 0;) task(context, k, static_cast<int32_t>(k % threads));
  };
  if (!on_a_thread) {
    run();
    return answer;
  }
  // A thread that the host has set up itself: it neither flushes nor keeps what the caller does.
  std::thread thread([&, caller = float_control_mode()] {
    float_control_set_mode(~caller);
    control_before = float_control();
    run();
    control_after = float_control();
  });
  thread.join();
  return answer;
}

namespace tilewright {
namespace {

TEST(HostPool, KernelsUseTheSymbolOfTheHost) {
  const Task task{*parse_workload("elementwise:shape=6x8,chain=relu"), host_target(3)};
  const schedule::LoopTree initial = *schedule::initial_tree(task.workload);
  const schedule::Trace trace = *schedule::trace_from_text("annotate Y i parallel");
  const schedule::LoopTree tree = *schedule::apply_or_explain(initial, trace);
  Result<codegen::BoundKernel> kernel = codegen::BoundKernel::build(task, tree, trace);
  ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
  for (int k = 0; k < 48; ++k) kernel->operand(0).as<float>()[k] = static_cast<float>(k - 20);

  requests.clear();
  EXPECT_EQ(kernel->run(), TILEWRIGHT_STATUS_OK);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].pool, nullptr);
  EXPECT_EQ(requests[0].threads, 3);
  EXPECT_EQ(requests[0].iterations, 6);
  for (int k = 0; k < 48; ++k) {
    EXPECT_EQ(kernel->operand(1).as<float>()[k], static_cast<float>(k < 20 ? 0 : k - 20));
  }

  answer = 7;  // the host could not run it: the kernel says so
  const uint64_t before = float_control();
  EXPECT_EQ(kernel->run(), TILEWRIGHT_STATUS_PARALLEL_FAILED);
  EXPECT_EQ(float_control(), before);
  answer = 0;
}

// A caller of a kernel that has set only some of the bits that flush: tasks get exactly these.
TEST(HostPool, TasksHaveTheModeOfTheCaller) {
  constexpr uint64_t kAll = TILEWRIGHT_FLOAT_FLUSH;
  constexpr uint64_t kLowest = kAll & (~kAll + 1);
  const uint64_t before = float_control();
  on_a_thread = true;
  for (const uint64_t mode : {uint64_t{0}, kLowest, kAll & ~kLowest, kAll}) {
    float_control_set_mode(mode);
    std::vector<uint64_t> modes(6, ~mode);
    const auto task = [](void* context, int64_t iteration, int32_t) {
      static_cast<uint64_t*>(context)[iteration] = float_control_mode();
    };
    EXPECT_EQ(tilewright_kernel_parallel_for(nullptr, 3, 6, task, modes.data()), 0);
    EXPECT_EQ(modes, std::vector<uint64_t>(6, mode));
    EXPECT_EQ(float_control_mode(), mode);
    EXPECT_EQ(control_after, control_before);
  }
  on_a_thread = false;
  float_control_set(before);
}

// By value: half of a denormal is 0, or the denormal where the workload keeps them. For both back
// ends that make code for this machine.
TEST(HostPool, DenormalsOnThreadsOfTheHost) {
  const float denormal = std::numeric_limits<float>::min() / 4;
  for (const codegen::BackEnd& back_end : codegen::all_back_ends()) {
    if (!back_end.makes_artifacts() || !codegen::probe(back_end)) continue;
    for (const bool denormals : {false, true}) {
      const Task task{
          *parse_workload("elementwise:shape=6x8,chain=scale(0.5)", {.denormals = denormals}),
          host_target(3)};
      const schedule::LoopTree initial = *schedule::initial_tree(task.workload);
      const schedule::Trace trace = *schedule::trace_from_text("annotate Y i parallel");
      const schedule::LoopTree tree = *schedule::apply_or_explain(initial, trace);
      Result<codegen::BoundKernel> kernel =
          codegen::BoundKernel::build(task, tree, trace, {.back_end = &back_end});
      ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
      for (int k = 0; k < 48; ++k) kernel->operand(0).as<float>()[k] = denormal;
      on_a_thread = true;
      control_after = 0;
      const uint64_t before = float_control();
      EXPECT_EQ(kernel->run(), TILEWRIGHT_STATUS_OK);
      EXPECT_EQ(float_control(), before);
      EXPECT_EQ(control_after, control_before);
      on_a_thread = false;
      for (int k = 0; k < 48; ++k) {
        EXPECT_EQ(std::bit_cast<uint32_t>(kernel->operand(1).as<float>()[k]),
                  denormals ? std::bit_cast<uint32_t>(denormal / 2) : 0U)
            << back_end.name;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
