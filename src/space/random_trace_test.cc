#include "space/random_trace.h"

#include <gtest/gtest.h>

#include <set>

#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::space {
namespace {

Task task_of(std::string_view text, std::string_view target = "x86-64-v4;threads=2",
             FloatPermissions permissions = {}) {
  Result<Workload> workload = parse_workload(text, permissions);
  CHECK(workload.has_value(), "{}", workload.error().message);
  return {*workload, parse_target(target).value()};
}

// All are legal and distinct.
void expect_sound(const Task& task, const std::vector<schedule::Trace>& traces) {
  const auto initial = schedule::initial_tree(task.workload);
  ASSERT_TRUE(initial);
  std::set<std::string> programs;
  for (const schedule::Trace& trace : traces) {
    const auto tree = schedule::apply_or_explain(*initial, trace);
    ASSERT_TRUE(tree) << task.workload.text << ": " << tree.error().message;
    EXPECT_TRUE(programs.insert(program_hash(*tree).hex()).second) << to_text(trace);
  }
}

TEST(RandomTraces, AreLegalAndDistinctForTheWholeSuite) {
  Rng rng(1);
  for (const SuiteRow& row : suite_rows()) {
    const Task task = task_of(row.name);
    const auto traces = random_traces(task, 10, rng);
    EXPECT_EQ(traces.size(), 10u) << row.name;
    expect_sound(task, traces);
  }
}

TEST(RandomTraces, AreFoundForOddWorkloadsAndTargets) {
  constexpr const char* kWorkloads[] = {
      "matmul:m=7,n=509,k=13,dtype=i8",
      "matmul:m=1,n=1000,k=515,transpose_b=1,dtype=bf16",
      "conv2d:n=1,h=14,w=13,ci=24,co=48,kernel=3,pad=1,groups=3",
      "conv3d:n=1,d=6,h=9,w=9,ci=8,co=16,kernel=3,pad=1",
      "conv2d_bias_bn_relu:n=1,h=20,w=20,ci=16,co=48,kernel=3,pad=1",
      "conv2d_transpose:h=9,w=9,ci=16,co=40,kernel=4,stride=2,pad=1",
      "attention:b=1,heads=2,seq=70,dim=32",
      "attention_online:b=1,heads=2,seq=70,dim=32,block=16",
      "reduce:op=argmax,shape=100x501,axes=1",
      "reduce:op=sum,shape=100000,axes=0",
      "cumulative_sum:shape=100x300,axis=1",
      "resize:shape=60x70,to=130x111,mode=linear",
      "transpose:shape=130x40x90,perm=2x1x0",
      "gather:shape=500x130,axis=0,indices=300",
      "softmax:m=300,n=130,dtype=f64",
  };
  Rng rng(2);
  for (const char* workload : kWorkloads) {
    for (const char* target : {"x86-64-v2;threads=1", "x86-64-v4;threads=7;vector_bits=256"}) {
      const Task task = task_of(workload, target);
      const auto traces = random_traces(task, 20, rng);
      EXPECT_EQ(traces.size(), 20u) << workload;
      expect_sound(task, traces);
    }
  }
}

TEST(RandomTraces, RespectPermissions) {
  FloatPermissions strict;
  strict.reassociate = strict.contract = false;
  const Task task = task_of("matmul:m=30,n=40,k=50,transpose_b=1", "x86-64-v4;threads=2", strict);
  Rng rng(3);
  const auto traces = random_traces(task, 50, rng);
  EXPECT_EQ(traces.size(), 50u);
  expect_sound(task, traces);
}

TEST(RandomTraces, AreAFunctionOfTheSeed) {
  const Task task = task_of("C2D2");
  const auto draw = [&](uint64_t seed) {
    Rng rng(seed);
    return random_traces(task, 20, rng);
  };
  EXPECT_EQ(draw(4), draw(4));
  EXPECT_NE(draw(4), draw(5));
}

TEST(RandomTraces, SmallSpacesGiveFewerTraces) {
  const Task task = task_of("elementwise:shape=1,chain=relu");
  Rng rng(6);
  const auto traces = random_traces(task, 1000, rng);
  EXPECT_GE(traces.size(), 1u);
  EXPECT_LT(traces.size(), 1000u);
  expect_sound(task, traces);
}

// The space contains the features of fast kernels, not only legal schedules.
TEST(RandomTraces, HaveVectorsThreadsAndPackedConstants) {
  const Task task = task_of("C2D2");
  const auto initial = schedule::initial_tree(task.workload);
  Rng rng(7);
  int vectors = 0, threads = 0, packed = 0, cached = 0, ragged = 0;
  const auto traces = random_traces(task, 300, rng);
  for (const schedule::Trace& trace : traces) {
    const std::string text = to_text(trace);
    vectors += text.find(" vectorize") != std::string::npos ? 1 : 0;
    threads += text.find(" parallel") != std::string::npos ? 1 : 0;
    packed += text.find("pack W") != std::string::npos ? 1 : 0;
    cached += text.find("cache_write") != std::string::npos ? 1 : 0;
    const auto tree = schedule::apply_or_explain(*initial, trace);
    ragged += tree->to_string().find("or fewer") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(vectors, 250);
  EXPECT_GT(threads, 250);
  EXPECT_GT(packed, 100);
  EXPECT_GT(cached, 80);
  EXPECT_LT(cached, 280);
  EXPECT_GT(ragged, 30);
}

}  // namespace
}  // namespace tilewright::space
