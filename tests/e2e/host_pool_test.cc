// A host program that brings its own threads: it defines tilewright_parallel_for, and kernels run
// their parallel loops through that instead of the pool of the runtime.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "codegen/back_ends/build_kernel.h"
#include "runtime/abi/kernel_abi.h"
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

}  // namespace

extern "C" int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                           TilewrightTask task, void* context) {
  requests.push_back({pool, threads, iterations});
  for (int64_t k = iterations; k-- > 0;) task(context, k, static_cast<int32_t>(k % threads));
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
  EXPECT_EQ(kernel->run(), TILEWRIGHT_STATUS_PARALLEL_FAILED);
}

}  // namespace
}  // namespace tilewright
