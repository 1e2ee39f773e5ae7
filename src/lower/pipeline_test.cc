#include "lower/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "ir/print.h"
#include "lower/flatten.h"
#include "lower/hoist_indices.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::lower {
namespace {

Result<ir::Function> lowered(const Workload& workload, std::string_view trace_text,
                             const LowerOptions& options = {},
                             std::string_view target = "x86-64-v4;threads=1") {
  const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const schedule::Trace trace = *schedule::trace_from_text(trace_text);
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return lower(workload, *parse_target(target), tree, trace, options);
}

TEST(Pipeline, ReportsEachPassAndTheTextOfThoseThatChangedSomething) {
  std::vector<PassReport> reports;
  const Workload matmul = *parse_workload("matmul:m=4,n=32,k=8");
  ASSERT_TRUE(lowered(matmul, "reorder C [k, j]\nannotate C j vectorize",
                      {.disabled = {}, .report = &reports, .report_text = true}));
  ASSERT_EQ(reports.size(), cpu_passes().size() + 1);
  EXPECT_EQ(reports[0].pass, "build_nest");
  for (size_t k = 0; k < cpu_passes().size(); ++k) {
    EXPECT_EQ(reports[k + 1].pass, cpu_passes()[k].name);
    EXPECT_EQ(reports[k + 1].text.empty(), !reports[k + 1].changed) << reports[k + 1].pass;
    EXPECT_GE(reports[k + 1].milliseconds, 0);
  }
}

TEST(Pipeline, PassesCanBeDisabledByName) {
  const Workload matmul = *parse_workload("matmul:m=4,n=32,k=8");
  const std::string with = ir::to_string(*lowered(matmul, ""));
  const std::string without =
      ir::to_string(*lowered(matmul, "", {.disabled = {"form_fma"}, .report = nullptr}));
  EXPECT_NE(with.find("fma("), std::string::npos) << with;
  EXPECT_EQ(without.find("fma("), std::string::npos) << without;

  const Result<ir::Function> unknown = lowered(matmul, "", {.disabled = {"vectorise"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::BadInput);
  EXPECT_NE(unknown.error().message.find("there is no pass 'vectorise'; passes are flatten"),
            std::string::npos)
      << unknown.error().message;
}

// Constants are finite unless the caller specifies otherwise.
TEST(Pipeline, TracksFiniteBuffers) {
  const Workload matmul = *parse_workload("matmul:m=4,n=32,k=8,constant=B");
  for (const bool finite : {true, false}) {
    const Result<ir::Function> function =
        lowered(matmul, "cache_read B [C]", {.finite_constants = finite});
    ASSERT_TRUE(function) << function.error().message;
    size_t count = 0;
    for (const ir::Buffer& buffer : function->buffers) count += buffer.finite ? 1 : 0;
    EXPECT_EQ(count, finite ? 2U : 0U);  // B and its copy
  }
}

TEST(Pipeline, DisablingFlattenDisablesItsDependents) {
  const Workload matmul = *parse_workload("matmul:m=4,n=32,k=8");
  LowerOptions options{.disabled = {"flatten"}};
  for (const Pass& pass : cpu_passes()) {
    if (pass.needs_flat && pass.run != hoist_indices) options.disabled.emplace_back(pass.name);
  }
  const Result<ir::Function> refused = lowered(matmul, "", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(
      refused.error().message,
      "without the pass flatten, the passes that require one index per access must be disabled, "
      "too: hoist_indices");
  options.disabled.emplace_back("hoist_indices");
  const std::string text = ir::to_string(*lowered(matmul, "", options));
  EXPECT_THAT(text, testing::HasSubstr("C[i, j] = fma(A[i, k], B[k, j], C[i, j])"));
}

constexpr Pass kFlatten[] = {{"flatten", flatten}};

// The loops keep their axes, also those of a tail.
TEST(Pipeline, BoundLoopsReachTheBackEnd) {
  const Workload matmul = *parse_workload("matmul:m=4,n=40,k=8");
  const std::string steps =
      "split C j [32]\nreorder C [j.0, i, j.1, k]\nbind C j.0 block_x\nbind C i thread_y\n"
      "bind C j.1 thread_x";
  const Result<ir::Function> function =
      lowered(matmul, steps, {.passes = kFlatten, .verify = true}, "cuda:sm_80");
  ASSERT_TRUE(function) << function.error().message;
  const std::string text = ir::to_string(*function);
  EXPECT_THAT(text, testing::HasSubstr("block_x for j.0 < 2:"));
  EXPECT_THAT(text, testing::HasSubstr("thread_y for i < 4:"));
  EXPECT_THAT(text, testing::HasSubstr("thread_x for j.1 < 32:"));
  EXPECT_THAT(text, testing::HasSubstr("thread_x for j.1 < 8:"));
}

TEST(Pipeline, BoundLoopsAreWithinTheLimitsOfTheTarget) {
  const Workload matmul = *parse_workload("matmul:m=128,n=64,k=8");
  const auto refusal = [&](std::string_view steps, std::string_view target) {
    const Result<ir::Function> function = lowered(matmul, steps, {.passes = kFlatten}, target);
    if (function) return std::string();
    EXPECT_EQ(function.error().kind, ErrorKind::Unsupported);
    return function.error().message;
  };
  EXPECT_EQ(refusal("bind C i block_x\nbind C j thread_x", "cuda:sm_80"), "");
  EXPECT_EQ(refusal("bind C i thread_z", "cuda:sm_80"),
            "loop i of C is bound to thread_z and takes 128 values; cuda:sm_80 has 64");
  EXPECT_EQ(refusal("bind C i thread_y\nbind C j thread_x", "cuda:sm_80"),
            "the loops in C are bound to 8192 threads of a block; cuda:sm_80 has 1024");
  EXPECT_EQ(refusal("bind C i block_x", "x86-64-v4;threads=1"),
            "loop i of C is bound to block_x, which only a GPU has");
}

// Leaves a store to a missing buffer.
void break_the_ir(ir::Function& function, const PassContext&) {
  function.body = ir::make_store(99, {ir::int_imm(0)}, ir::float_imm(1, ir::kF32));
}

TEST(Pipeline, PassThatBreaksTheIrIsNamed) {
  const Target target = *parse_target("x86-64-v4;threads=1");
  const Pass passes[] = {{"flatten", flatten}, {"break_the_ir", break_the_ir}};
  const PassContext context{.target = target, .permissions = {}};
  const ir::Function whole = *lowered(*parse_workload("matmul:m=4,n=32,k=8"), "");
  ir::Function function = whole;
  try {
    run_passes(function, passes, context, {.verify = true});
    ADD_FAILURE() << "the verifier did not run";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("after break_the_ir: "));
  }
  function = whole;
  EXPECT_NO_THROW(run_passes(function, passes, context, {.verify = false}));
  function = whole;
  EXPECT_NO_THROW(run_passes(function, {passes, 1}, context, {.verify = true}));
}

#ifndef NDEBUG
TEST(Pipeline, DevBuildsVerify) { EXPECT_TRUE(LowerOptions{}.verify); }
#endif

TEST(Pipeline, PermissionsLimitPasses) {
  const Workload sums = *parse_workload("matmul:m=4,n=32,k=8", {.contract = false});
  EXPECT_EQ(ir::to_string(*lowered(sums, "")).find("fma("), std::string::npos);

  const Workload exact = *parse_workload("softmax:m=4,n=8", {.approximate = false});
  const Result<ir::Function> refused = lowered(exact, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(refused.error().message.find("E calls a function"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::lower
