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
                             const LowerOptions& options = {}) {
  const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const schedule::Trace trace = *schedule::trace_from_text(trace_text);
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return lower(workload, *parse_target("x86-64-v4;threads=1"), tree, trace, options);
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

TEST(Pipeline, PassesCanBeLeftOutByName) {
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

// Constants are finite unless the caller knows better.
TEST(Pipeline, KnowsWhichBuffersAreFinite) {
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

TEST(Pipeline, FlattenIsLeftOutWithThosePassesThatNeedIt) {
  const Workload matmul = *parse_workload("matmul:m=4,n=32,k=8");
  LowerOptions options{.disabled = {"flatten"}};
  for (const Pass& pass : cpu_passes()) {
    if (pass.needs_flat && pass.run != hoist_indices) options.disabled.emplace_back(pass.name);
  }
  const Result<ir::Function> refused = lowered(matmul, "", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(refused.error().message,
            "without the pass flatten, these have to be left out too, which take every access to "
            "have one index: hoist_indices");
  options.disabled.emplace_back("hoist_indices");
  const std::string text = ir::to_string(*lowered(matmul, "", options));
  EXPECT_THAT(text, testing::HasSubstr("C[i, j] = fma(A[i, k], B[k, j], C[i, j])"));
}

// Leaves a store to a buffer that nobody has.
void break_the_ir(ir::Function& function, const PassContext&) {
  function.body = ir::make_store(99, {ir::int_imm(0)}, ir::float_imm(1, ir::kF32));
}

TEST(Pipeline, ThePassThatLeavesBadIrIsNamed) {
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

TEST(Pipeline, PermissionsBind) {
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
