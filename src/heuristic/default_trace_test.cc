#include "heuristic/default_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "schedule/testing.h"
#include "task/parse.h"
#include "task/suite.h"
#include "te/ops/table.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kSmallCode = 4096;  // instructions: what compiles in milliseconds

const std::vector<Target>& some_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (const char* text : {"x86-64-v2;threads=1", "x86-64-v3;threads=3", "x86-64-v4;threads=2",
                             "x86-64-v4;threads=64;vector_bits=256"}) {
      all.push_back(parse_target(text).value());
    }
    return all;
  }();
  return targets;
}

bool has(const LoopTree& tree, Annotation annotation) {
  return std::ranges::any_of(
      tree.vars, [&](const LoopVar& var) { return var.is_loop() && var.annotation == annotation; });
}

void expect_legal(std::string_view text) {
  FloatPermissions permissions;
  permissions.winograd = true;
  const Result<Workload> workload = parse_workload(text, permissions);
  ASSERT_TRUE(workload) << text << ": " << workload.error().message;
  const Result<LoopTree> initial = initial_tree(*workload);
  ASSERT_TRUE(initial);
  for (const Target& target : some_targets()) {
    for (const int variant : {0, 1}) {
      const Result<Trace> trace = default_trace(*workload, target, variant);
      ASSERT_TRUE(trace) << text << ": " << trace.error().message;
      const Result<LoopTree> tree = apply_or_explain(*initial, *trace);
      ASSERT_TRUE(tree) << text << ": " << tree.error().message;
      const bool winograd = text.starts_with("conv2d_winograd");  // large bodies that fold
      EXPECT_LE(estimated_instructions(*tree, target.vector_bytes()),
                winograd ? kMaxInstructions : kSmallCode)
          << text << "\n"
          << to_text(*trace);
      const bool scalar = variant == 1 && workload->dag->flop() <= kScalarFlop;
      EXPECT_FALSE(scalar && has(*tree, Annotation::Vectorize)) << text;
      EXPECT_FALSE(target.threads() == 1 && has(*tree, Annotation::Parallel)) << text;
    }
  }
}

TEST(DefaultTrace, IsLegalForTheWholeSuite) {
  for (const SuiteRow& row : suite_rows()) expect_legal(row.name);
  expect_legal("C2D2.b16");
}

// One text an operator of the table, with odd extents.
constexpr const char* kOperators[] = {
    "matmul:m=7,n=9,k=5,dtype=i8",
    "batch_matmul:b=2,m=7,n=9,k=5",
    "conv2d:n=1,h=5,w=5,ci=4,co=6,kernel=3,pad=1,groups=2",
    "conv1d:l=9,ci=4,co=6,kernel=3,pad=1",
    "conv3d:d=3,h=4,w=5,ci=2,co=3,kernel=2",
    "conv2d_bias_bn_relu:n=1,h=5,w=5,ci=4,co=6,kernel=3,pad=1",
    "depthwise_conv2d:n=1,h=5,w=5,ci=4,kernel=3,pad=1,dtype=u8",
    "conv2d_transpose:h=4,w=4,ci=3,co=5,kernel=4,stride=2,pad=1",
    "conv2d_capsule:h=4,w=4,ci=3,co=5,kernel=2,capsule=3",
    "conv2d_winograd:h=12,w=12,ci=30,co=50,pad=1,m=4",
    "softmax:m=4,n=9",
    "log_softmax:m=4,n=9",
    "norm:b=2,m=4,n=9",
    "layer_norm:m=4,n=9",
    "rms_norm:m=4,n=9",
    "transpose_batch_matmul:b=1,heads=2,seq=5,dim=4",
    "transpose_batch_matmul_softmax:b=1,heads=2,seq=5,dim=4",
    "attention:b=1,heads=2,seq=5,dim=4",
    "attention_online:b=1,heads=2,seq=5,dim=4,block=2",
    "elementwise:shape=5x7,chain=exp+bias+relu",
    "binary:op=add,a=5x7,b=7",
    "broadcast:shape=7,to=5x7",
    "cast:shape=5x7,from=f32,to=bf16",
    "reduce:op=argmax,shape=5x7,axes=1",
    "cumulative_sum:shape=5x7,axis=1",
    "pool:op=average,n=1,spatial=7x7,c=5,kernel=3,stride=2,pad=1",
    "global_pool:op=max,n=1,spatial=7x7,c=5",
    "adaptive_pool:op=average,n=1,spatial=7x7,c=5,to=3",
    "resize:shape=5x7,to=10x9,mode=linear",
    "pad:shape=5x7,before=1x1,after=1x1,mode=reflect",
    "concat:shape=5x9,axis=1,parts=4x5",
    "slice:shape=5x9,begin=1x1,size=2x3,step=1x2",
    "transpose:shape=5x9,perm=1x0",
    "reshape:shape=4x6,to=3x8",
    "gather:shape=5x9,axis=0,indices=4",
    "one_hot:shape=5,depth=4,axis=1",
};

TEST(DefaultTrace, IsLegalForEveryOperator) {
  std::set<std::string_view> seen;
  for (const std::string_view text : kOperators) {
    seen.insert(text.substr(0, text.find(':')));
    expect_legal(text);
  }
  for (const te::Operator& op : te::all_operators()) {
    EXPECT_TRUE(seen.contains(op.name)) << op.name << " has no row here";
  }
}

TEST(DefaultTrace, IsLegalWithoutPermissions) {
  FloatPermissions strict;
  strict.reassociate = strict.contract = strict.approximate = false;
  for (const char* text : {"matmul:m=30,n=40,k=50,transpose_b=1",
                           "reduce:op=sum,shape=100000,axes=0", "layer_norm:m=40,n=1000"}) {
    const Result<Workload> workload = parse_workload(text, strict);
    ASSERT_TRUE(workload);
    const Result<Trace> trace = default_trace(*workload, some_targets()[2]);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_TRUE(apply_or_explain(*initial_tree(*workload), *trace));
  }
}

LoopTree default_tree(std::string_view text, const Target& target) {
  const Workload workload = parse_workload(text).value();
  const Trace trace = default_trace(workload, target).value();
  return apply_or_explain(*initial_tree(workload), trace).value();
}

// Each stage is too small for threads, all of them are not.
TEST(DefaultTrace, StagesOfANestShareThreads) {
  const Target target = parse_target("x86-64-v4;threads=16").value();
  EXPECT_TRUE(has(default_tree("softmax:m=600,n=50", target), Annotation::Parallel));
  EXPECT_FALSE(has(default_tree("softmax:m=6,n=50", target), Annotation::Parallel));
}

// 256 channels are four for each task of 16 threads, but no lane of a vector stays empty.
TEST(DefaultTrace, RowsThatAreLanesAreDividedByVectors) {
  const Target target = parse_target("x86-64-v4;threads=16").value();
  const LoopTree tree = default_tree("global_pool:op=average,spatial=56x56,c=256", target);
  EXPECT_TRUE(has(tree, Annotation::Parallel));
  int vectors = 0;
  for (const LoopVar& var : tree.vars) {
    if (!var.is_loop() || var.annotation != Annotation::Vectorize) continue;
    EXPECT_EQ(var.extent % 16, 0) << tree.to_string();
    ++vectors;
  }
  EXPECT_GT(vectors, 0);
}

// Queries are a slice of one product, with its heads as an axis.
TEST(DefaultTrace, ViewsAreReadInPlace) {
  const char* text =
      R"(dag:{"constants":[],"ops":[{"name":"X","axes":[["d0",50],["d1",3],["d2",768]],"placeho)"
      R"(lder":"f32"},{"name":"Q","axes":[["i",50],["h",12],["k",64]],"body":[7],"elements":["f)"
      R"(32"],"nodes":[["var",0],["i64",1],["var",1],["i64",64],["*",2,3],["var",2],["+",4,5],[)"
      R"("load",0,0,1,6]]},{"name":"K","axes":[["h",12],["k",64],["j",50]],"placeholder":"f32"})"
      R"(,{"name":"C","axes":[["h",12],["i",50],["j",50]],"body":[6],"elements":["f32"],"reduce)"
      R"(":[["k",64]],"reduction":{"names":["lhs","rhs"],"identity":[7],"combine":[10],"commuta)"
      R"(tive":true},"nodes":[["var",1],["var",0],["var",3],["load",1,0,1,2],["var",2],["load",)"
      R"(2,1,2,4],["*",3,5],["f32","0x0p+0"],["var",4],["var",5],["+",8,9]]}]})";
  const LoopTree tree = default_tree(text, some_targets()[2]);
  EXPECT_EQ(tree.stage(tree.find_stage(testing::stage_of("Q"))).place, Attachment::Inlined);
}

// The weights of a block of channels stay in cache while all pixels pass.
TEST(DefaultTrace, ATransposedConvolutionReusesItsWeights) {
  const LoopTree tree = default_tree(
      "conv2d_transpose:n=1,h=4,w=4,ci=512,co=256,kernel=4,stride=2,pad=1", some_targets()[2]);
  const Stage& stage = tree.stage(tree.find_stage(testing::stage_of("Y")));
  EXPECT_EQ(tree.var(stage.loops[0]).name.text(), "c.0") << tree.to_string();
}

struct Shape {
  const char* workload;
  const char* tree;  // of the default schedule, without lines about inputs
};

// The schedules that the rules give typical workloads, for a reader to judge.
constexpr Shape kShapes[] = {
    {"matmul:m=512,n=512,k=512,constant=B",
     "parallel for j.0 < 16\n"
     "  for i.0 < 64\n"
     "    for k < 512\n"
     "      prefetch B, next tile\n"
     "      unroll for i.1 < 8\n"
     "        vectorize for j.1 < 32\n"
     "          C (512x512) <- A, B\n"},
    {"elementwise:shape=640x100,chain=exp+relu",
     "parallel for i < 640\n"
     "  for j.0 < 2\n"
     "    vectorize for j.1 < 64 or fewer\n"
     "      Y (640x100) <- X\n"},
    {"softmax:m=1024,n=4096",
     "parallel for i < 1024\n"
     "  for i < 1\n"
     "    for k.0 < 64\n"
     "      vectorize for k.1 < 64\n"
     "        M (1) <- X\n"
     "  for i < 1\n"
     "    for j.0 < 64\n"
     "      vectorize for j.1 < 64\n"
     "        E (1x4096) <- X, M\n"
     "  for i < 1\n"
     "    for k.0 < 64\n"
     "      vectorize for k.1 < 64\n"
     "        S (1) <- E\n"
     "  for i < 1\n"
     "    R (1) <- S\n"
     "  for j.0 < 64\n"
     "    vectorize for j.1 < 64\n"
     "      Y (1024x4096) <- E, R\n"},
};

TEST(DefaultTrace, MatchesTheDocumentedRules) {
  for (const Shape& shape : kShapes) {
    const Result<Workload> workload = parse_workload(shape.workload);
    ASSERT_TRUE(workload);
    const Result<Trace> trace = default_trace(*workload, some_targets()[2]);
    ASSERT_TRUE(trace);
    const Result<LoopTree> tree = apply_or_explain(*initial_tree(*workload), *trace);
    ASSERT_TRUE(tree);
    std::string text = tree->to_string();
    std::string kept;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at) + 1;
      const std::string line = text.substr(at, end - at);
      if (line.find(": in") == std::string::npos) kept += line;
      at = end;
    }
    EXPECT_EQ(kept, shape.tree) << shape.workload;
  }
}

TEST(DefaultTrace, TransformsByConstantMatricesAreUnrolled) {
  const Result<Workload> workload =
      parse_workload("conv2d_winograd:h=27,w=27,ci=64,co=72,pad=1,m=4,weight=transformed");
  ASSERT_TRUE(workload);
  const Result<Trace> trace = default_trace(*workload, some_targets()[2]);
  ASSERT_TRUE(trace);
  const Result<LoopTree> tree = apply_or_explain(*initial_tree(*workload), *trace);
  ASSERT_TRUE(tree);
  for (const char* name : {"V", "I"}) {
    const StageIndex stage = tree->find_stage(testing::stage_of(name));
    for (const char* loop : {"a", "b", "ra", "rb"}) {
      const VarIndex found = tree->find_loop(stage, Name(loop));
      ASSERT_NE(found, kNone) << name << ' ' << loop;
      EXPECT_EQ(tree->var(found).annotation, Annotation::Unroll) << name << ' ' << loop;
    }
  }
  // Tiles are read without a copy.
  EXPECT_EQ(tree->stage(tree->find_stage(testing::stage_of("T"))).place, Attachment::Inlined);
}

TEST(DefaultTrace, AttentionIsOneLoopNest) {
  for (const char* text : {"attention:b=1,heads=12,seq=197,dim=64", "SDPA.8x12x512x64"}) {
    const Result<Workload> workload = parse_workload(text);
    ASSERT_TRUE(workload);
    const Result<Trace> trace = default_trace(*workload, some_targets()[2]);
    ASSERT_TRUE(trace);
    const Result<LoopTree> tree = apply_or_explain(*initial_tree(*workload), *trace);
    ASSERT_TRUE(tree);
    for (const char* name : {"C", "M", "E", "S", "O"}) {
      const Stage& stage = tree->stage(tree->find_stage(testing::stage_of(name)));
      EXPECT_EQ(stage.place, Attachment::At) << name;
      EXPECT_EQ(tree->stage(stage.at_stage).name, testing::stage_of("Y")) << name;
    }
  }
}

TEST(DefaultTrace, VariantsAreDifferentPrograms) {
  for (const char* text : {"C2D2", "GMM0", "SFM0", "MM.8192x8192x8192"}) {
    const Result<Workload> workload = parse_workload(text);
    ASSERT_TRUE(workload);
    const Result<LoopTree> initial = initial_tree(*workload);
    std::set<std::string> hashes;
    for (const int variant : {0, 1}) {
      const Result<Trace> trace = default_trace(*workload, some_targets()[2], variant);
      ASSERT_TRUE(trace);
      hashes.insert(program_hash(*apply_or_explain(*initial, *trace)).hex());
    }
    EXPECT_EQ(hashes.size(), 2u) << text;
  }
}

TEST(DefaultTrace, ProgramHashIsThatOfTheTrace) {
  for (const char* text : {"cuda:sm_75", "x86-64-v4;threads=2"}) {
    const Task task{.workload = parse_workload("GMM0").value(),
                    .target = parse_target(text).value()};
    const Result<DefaultProgram> made = default_program(task);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->trace, *default_trace(task.workload, task.target));
    const LoopTree tree = *apply_or_explain(*initial_tree(task.workload), made->trace);
    EXPECT_EQ(made->tree.to_string(), tree.to_string());
    EXPECT_EQ(made->program, program_hash(tree, task.target));
  }
}

}  // namespace
}  // namespace tilewright::heuristic
