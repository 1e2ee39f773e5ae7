// The default schedule of every kind of workload, in both variants, agrees with te/eval:
// through the interpreter and LLVM, for several widths of vectors and counts of threads.
#include <gtest/gtest.h>

#include "heuristic/default_trace.h"
#include "program_check.h"
#include "random_workload.h"
#include "sampled_check.h"
#include "schedule/apply.h"
#include "settings.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

Target some_target(Rng& rng) {
  Target target = host_target(static_cast<int>(rng.between(1, 3)));
  while (target.vector_bytes() > 16 && rng.chance(0.4)) {
    target = target.with_vector_bits(4 * target.vector_bytes());
  }
  return target;
}

class DefaultTraceAgrees : public ::testing::TestWithParam<size_t> {};

TEST_P(DefaultTraceAgrees, WithTheDefinition) {
  const WorkloadKind& kind = all_workload_kinds()[GetParam()];
  const int64_t rounds = std::max<int64_t>(2, setting("TILEWRIGHT_DIFFERENTIAL_CASES", 0) / 100);
  Rng rng(static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1)) * 1000 + GetParam());
  for (int64_t round = 0; round < rounds; ++round) {
    const Workload workload = random_workload(kind, rng);
    const Target target = some_target(rng);
    ProgramChecker checker({workload, target}, rng.next());
    for (const int variant : {0, 1}) {
      const auto trace = heuristic::default_trace(workload, target, variant);
      ASSERT_TRUE(trace) << workload.text << ": " << trace.error().message;
      const auto initial = schedule::initial_tree(workload);
      ASSERT_TRUE(initial);
      const auto tree = schedule::apply_or_explain(*initial, *trace);
      ASSERT_TRUE(tree) << workload.text << ": " << tree.error().message;
      const auto failure = checker.check(*tree, *trace);
      EXPECT_FALSE(failure) << workload.text << " for " << print_target(target) << "\n"
                            << to_text(*trace) << failure->text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DefaultTraceAgrees,
                         ::testing::Range<size_t>(0, all_workload_kinds().size()));

// Large enough for threads, copies of operands, blocks of rows and tiles with remainders.
constexpr const char* kLarger[] = {
    "matmul:m=131,n=257,k=96",
    "matmul:m=96,n=160,k=64,transpose_a=1,transpose_b=1",
    "matmul:m=1,n=1000,k=515,constant=B",
    "matmul:m=515,n=1,k=300",
    "matmul:m=64,n=128,k=64,dtype=bf16,constant=B",
    "matmul:m=61,n=128,k=64,dtype=u8,dtype_b=i8",
    "batch_matmul:b=5,m=40,n=48,k=33,dtype=f64",
    "conv2d:n=2,h=17,w=19,ci=16,co=40,kernel=3,pad=1",
    "conv2d:n=1,h=30,w=30,ci=3,co=24,kernel=7,stride=2,pad=3,dtype=f16",
    "conv2d:n=1,h=14,w=14,ci=24,co=48,kernel=3,pad=1,groups=3",
    "conv1d:n=1,l=300,ci=16,co=32,kernel=5,pad=2",
    "conv3d:n=1,d=6,h=9,w=9,ci=8,co=16,kernel=3,pad=1",
    "conv2d_bias_bn_relu:n=1,h=20,w=20,ci=16,co=48,kernel=3,pad=1",
    "depthwise_conv2d:n=1,h=40,w=41,ci=33,kernel=3,pad=1",
    "conv2d_transpose:h=9,w=9,ci=16,co=40,kernel=4,stride=2,pad=1",
    "conv2d_capsule:h=8,w=8,ci=8,co=16,kernel=3,pad=1,capsule=3",
    "conv2d_winograd:h=14,w=14,ci=16,co=32,pad=1,m=2",
    "conv2d_winograd:h=14,w=14,ci=16,co=32,pad=1,m=4,weight=transformed",
    "softmax:m=300,n=130",
    "log_softmax:m=65,n=1001",
    "norm:b=1,m=300,n=257",
    "layer_norm:m=77,n=515",
    "rms_norm:m=3,n=20000",
    "transpose_batch_matmul_softmax:b=1,heads=3,seq=66,dim=32",
    "attention:b=1,heads=2,seq=70,dim=32",
    "attention_online:b=1,heads=2,seq=70,dim=32,block=16",
    "elementwise:shape=700x301,chain=scale+exp+bias+relu",
    "elementwise:shape=250001,chain=gelu",
    "binary:op=add,a=64x1x130,b=33x130",
    "reduce:op=argmax,shape=100x501,axes=1",
    "reduce:op=argmin,shape=501x100,axes=0,dtype=i32",
    "reduce:op=sum,shape=100000,axes=0",
    "reduce:op=mean,shape=300x50x7,axes=0x2",
    "cumulative_sum:shape=100x300,axis=1",
    "pool:op=average,n=1,spatial=40x40,c=37,kernel=3,stride=2,pad=1",
    "adaptive_pool:op=average,n=1,spatial=31x31,c=40,to=7",
    "resize:shape=60x70,to=130x111,mode=linear",
    "pad:shape=100x120,before=3x5,after=2x1,mode=reflect",
    "concat:shape=200x300,axis=1,parts=100x150x50",
    "transpose:shape=130x40x90,perm=2x1x0",
    "reshape:shape=300x400,to=600x200",
    "gather:shape=500x130,axis=0,indices=300",
};

class DefaultTraceRuns : public ::testing::TestWithParam<const char*> {};

TEST_P(DefaultTraceRuns, EqualsTheDefinition) {
  FloatPermissions permissions;
  permissions.winograd = true;
  const auto workload = parse_workload(GetParam(), permissions);
  ASSERT_TRUE(workload) << workload.error().message;
  const Target target = host_target(2);
  SampledChecker checker({*workload, target}, 3);
  const auto initial = schedule::initial_tree(*workload);
  ASSERT_TRUE(initial);
  for (const int variant : {0, 1}) {
    const auto trace = heuristic::default_trace(*workload, target, variant);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto tree = schedule::apply_or_explain(*initial, *trace);
    ASSERT_TRUE(tree) << tree.error().message;
    const auto problem = checker.check(*tree, *trace);
    EXPECT_FALSE(problem) << to_text(*trace) << *problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Larger, DefaultTraceRuns, ::testing::ValuesIn(kLarger));

}  // namespace
}  // namespace tilewright::testing
