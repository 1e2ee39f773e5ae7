// Random schedules as tuning draws them agree with te/eval: small workloads through the
// interpreter and LLVM, larger ones compiled and sampled.
#include <gtest/gtest.h>

#include "back_end_check.h"
#include "ir/print.h"
#include "lower/pipeline.h"
#include "program_check.h"
#include "random_workload.h"
#include "sampled_check.h"
#include "schedule/apply.h"
#include "settings.h"
#include "space/random_trace.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

TEST(RandomTracesAgree, WithTheDefinition) {
  const int64_t rounds = std::max<int64_t>(1, setting("TILEWRIGHT_DIFFERENTIAL_CASES", 0) / 200);
  Rng rng(static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1)));
  for (const WorkloadKind& kind : all_workload_kinds()) {
    for (int64_t round = 0; round < rounds; ++round) {
      const Workload workload = random_workload(kind, rng);
      const Task task{workload, host_target(static_cast<int>(rng.between(1, 3)))};
      ProgramChecker checker(task, rng.next());
      const auto initial = schedule::initial_tree(workload);
      ASSERT_TRUE(initial);
      for (const schedule::Trace& trace : space::random_traces(task, 2, rng)) {
        const auto tree = schedule::apply_or_explain(*initial, trace);
        ASSERT_TRUE(tree) << tree.error().message;
        const auto failure = checker.check(*tree, trace);
        EXPECT_FALSE(failure) << workload.text << "\n" << to_text(trace) << failure->text;
      }
    }
  }
}

// Copies that are transposed in registers, in vectors of 16 lanes and of 8.
TEST(RandomTracesAgree, WithTransposedTiles) {
  constexpr size_t kDraws = 120, kPrograms = 6;
  Rng rng(static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1)));
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  for (const char* text : {"transpose_batch_matmul:b=1,heads=2,seq=35,dim=32",
                           "transpose_batch_matmul_softmax:b=1,heads=2,seq=16,dim=48"}) {
    const auto workload = parse_workload(text);
    ASSERT_TRUE(workload) << workload.error().message;
    const auto initial = schedule::initial_tree(*workload);
    ASSERT_TRUE(initial);
    for (const Target& target : {host, narrow}) {
      const Task task{*workload, target};
      ProgramChecker checker(task, rng.next());
      size_t transposed = 0;
      BackEndBatch batch(target);
      for (const schedule::Trace& trace : space::random_traces(task, kDraws, rng)) {
        const auto tree = schedule::apply_or_explain(*initial, trace);
        ASSERT_TRUE(tree) << tree.error().message;
        const auto function = lower::lower(*workload, target, *tree, trace);
        ASSERT_TRUE(function) << function.error().message;
        if (ir::to_string(*function).find("transpose ") == std::string::npos) continue;
        Interpreted interpreted;
        const auto failure = checker.check(*tree, trace, {.interpreted = &interpreted});
        EXPECT_FALSE(failure) << text << "\n" << to_text(trace) << failure->text;
        if (!failure) batch.add(*workload, std::move(interpreted));
        if (++transposed == kPrograms) break;
      }
      EXPECT_EQ(transposed, kPrograms) << text;
      const auto problem = batch.check();
      EXPECT_FALSE(problem) << text << "\n" << problem->text;
    }
  }
}

constexpr const char* kLarger[] = {
    "matmul:m=131,n=257,k=96",
    "matmul:m=64,n=128,k=64,dtype=bf16,transpose_b=1",
    "batch_matmul:b=3,m=40,n=48,k=33",
    "conv2d:n=1,h=17,w=19,ci=16,co=40,kernel=3,pad=1,constant=none",
    "conv2d:n=1,h=14,w=14,ci=24,co=48,kernel=3,pad=1,groups=3",
    "conv2d_bias_bn_relu:n=1,h=20,w=20,ci=16,co=48,kernel=3,pad=1",
    "depthwise_conv2d:n=1,h=40,w=41,ci=33,kernel=3,pad=1",
    "conv2d_transpose:h=9,w=9,ci=16,co=40,kernel=4,stride=2,pad=1",
    "softmax:m=300,n=130",
    "norm:b=1,m=300,n=257",
    "transpose_batch_matmul_softmax:b=1,heads=3,seq=66,dim=32",
    "attention:b=1,heads=2,seq=70,dim=32",
    "reduce:op=mean,shape=300x50x7,axes=0x2",
    "pool:op=average,n=1,spatial=40x40,c=37,kernel=3,stride=2,pad=1",
    "transpose:shape=130x40x90,perm=2x1x0",
};

TEST(RandomTracesAgree, WithSamplesOfLargerWorkloads) {
  const int64_t count = std::max<int64_t>(3, setting("TILEWRIGHT_DIFFERENTIAL_CASES", 0) / 50);
  Rng rng(static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1)));
  for (const char* text : kLarger) {
    const auto workload = parse_workload(text);
    ASSERT_TRUE(workload) << text << ": " << workload.error().message;
    const Task task{*workload, host_target(2)};
    SampledChecker checker(task, rng.next());
    const auto initial = schedule::initial_tree(*workload);
    ASSERT_TRUE(initial);
    for (const schedule::Trace& trace :
         space::random_traces(task, static_cast<size_t>(count), rng)) {
      const auto tree = schedule::apply_or_explain(*initial, trace);
      ASSERT_TRUE(tree) << tree.error().message;
      const auto problem = checker.check(*tree, trace);
      EXPECT_FALSE(problem) << text << "\n" << to_text(trace) << *problem;
    }
  }
}

}  // namespace
}  // namespace tilewright::testing
